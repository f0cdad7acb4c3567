import { bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'

/** The service of the tests of SEPA. */
export function sepaIn(service: TestService) {
  /** Each owner has a clock of its own. */
  async function anOwner() {
    const owner = await service.owner()
    const { client } = owner
    return {
      ...owner,
      get: (id: string) => bodyOf(client.transfers.get({ params: { id } })),
      wallet: (id: string) => bodyOf(client.wallets.get({ params: { id } })),
      /** Without Temporal the sweep takes the steps, and so does the test clock on its way. */
      pass: (span: { seconds: number } | { minutes: number } | { days: number }) =>
        bodyOf(client.sandbox.advance({ body: span })),
      events: async (transferId: string) => {
        const rows = await service.sql<{ told: string }>(
          `select event || ' ' || (data ->> 'status') as told from events where data ->> 'transferId' = $1 order by id`,
          [transferId],
        )
        return rows.map(({ told }) => told)
      },
      postings: async (transferId: string) =>
        (await bodyOf(client.ledger.transfers({ query: { referenceId: transferId } }))).data
          .map(({ kind }) => kind)
          .reverse(),
    }
  }

  return { anOwner }
}
