import { expect } from '@jest/globals'
import { HOUSE } from '../../../src/identity/customers/customer.ts'
import { made, type TestClient } from '../factories.ts'
import type { TestHouse } from '../harness.ts'
import { expectProven } from '../proven.ts'

let numbered = 0
/** A bank's reference that was never used. */
export const fresh = () => `REF${++numbered}`

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

/** What the tests of the bank’s files ask of their house. */
export function incomingFilesIn({
  house,
  client,
  live,
}: {
  house: TestHouse
  client: TestClient
  live: TestClient
}) {
  const read = (xml: string | Buffer, mode: 'test' | 'live' = 'test') =>
    house.dash.incoming.readFile({ body: { content: base64(xml), mode } })
  const balanceOf = async (id: string, by = client) =>
    (await made(by.wallets.get({ params: { id } }))).availableEuros
  const creditsOf = async (bankReference: string) => {
    const { data } = await made(house.dash.incoming.list({ query: { limit: 100 } }))
    return data.filter(one => one.bankReference === bankReference)
  }

  const proven = async () => {
    for (const mode of ['test', 'live'] as const)
      expect(
        await made(house.dash.ledger.verifyOwner({ params: { id: HOUSE }, body: { mode } })),
      ).toMatchObject({
        ok: true,
        problems: [],
      })
    for (const by of [client, live]) await expectProven(by)
  }

  return { read, balanceOf, creditsOf, proven }
}
