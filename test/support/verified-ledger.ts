import { expect } from '@jest/globals'
import { bodyOf, type TestClient } from './factories.ts'

/** Checks that this owner's ledger verifies without a problem. */
export const expectVerifiedLedger = async (client: TestClient): Promise<void> =>
  expect(await bodyOf(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
