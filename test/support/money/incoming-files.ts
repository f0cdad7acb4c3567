import { expect } from '@jest/globals'
import { PLATFORM_OWNER_ID } from '../../../src/identity/customers/customer.ts'
import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { expectVerifiedLedger } from '../verified-ledger.ts'

let references = 0
export const newReference = () => `REF${++references}`

const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64')

export function incomingFilesIn({
  service,
  client,
  live,
}: {
  service: TestService
  client: TestClient
  live: TestClient
}) {
  const read = (xml: string | Buffer, mode: 'test' | 'live' = 'test') =>
    service.dash.incoming.readFile({ body: { content: base64(xml), mode } })
  const balanceOf = async (id: string, by = client) =>
    (await bodyOf(by.wallets.get({ params: { id } }))).availableEuros
  const creditsOf = async (bankReference: string) => {
    const { data } = await bodyOf(service.dash.incoming.list({ query: { limit: 100 } }))
    return data.filter(credit => credit.bankReference === bankReference)
  }

  const proveLedgers = async () => {
    for (const mode of ['test', 'live'] as const)
      expect(
        await bodyOf(service.dash.ledger.verifyOwner({ params: { id: PLATFORM_OWNER_ID }, body: { mode } })),
      ).toMatchObject({
        ok: true,
        problems: [],
      })
    for (const by of [client, live]) await expectVerifiedLedger(by)
  }

  return { read, balanceOf, creditsOf, proveLedgers }
}
