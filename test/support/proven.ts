import { expect } from '@jest/globals'
import { made, type TestClient } from './factories.ts'

/** Every cent of this owner is where it should be. */
export const expectProven = async (client: TestClient): Promise<void> =>
  expect(await made(client.ledger.verify({}))).toMatchObject({ ok: true, problems: [] })
