import { expect } from '@jest/globals'
import { bodyOf, type TestClient } from './factories.ts'

export const expectVerifiedLedger = async (client: TestClient): Promise<void> =>
  expect(await bodyOf(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
