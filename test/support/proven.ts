import { expect } from '@jest/globals'
import { bodyOf, type TestClient } from './factories.ts'

/** Every cent of this owner is where it should be. */
export const expectProven = async (client: TestClient): Promise<void> =>
  expect(await bodyOf(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
