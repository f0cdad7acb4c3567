import { bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'

export function sepaIn(service: TestService) {
  async function anOwner() {
    const owner = await service.owner()
    const { client } = owner
    return {
      ...owner,
      get: (id: string) => bodyOf(client.transfers.get({ params: { id } })),
      wallet: (id: string) => bodyOf(client.wallets.get({ params: { id } })),
      /** Advances the test clock, which takes the due steps of transfers as the sweep would. */
      pass: (span: { seconds: number } | { minutes: number } | { days: number }) =>
        bodyOf(client.sandbox.advance({ body: span })),
      events: async (transferId: string) => {
        const rows = await service.sql<{ summary: string }>(
          `select event || ' ' || (data ->> 'status') as summary from events where data ->> 'transferId' = $1 order by id`,
          [transferId],
        )
        return rows.map(({ summary }) => summary)
      },
      postings: async (transferId: string) =>
        (await bodyOf(client.ledger.transfers({ query: { referenceId: transferId } }))).data
          .map(({ kind }) => kind)
          .reverse(),
    }
  }

  return { anOwner }
}
