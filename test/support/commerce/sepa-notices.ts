import { expect } from '@jest/globals'
import { aSepaTransfer, bodyOf, type TestClient } from '../factories.ts'
import { expectVerifiedLedger } from '../verified-ledger.ts'

export function sepaNoticesIn(client: TestClient) {
  const get = (id: string) => bodyOf(client.transfers.get({ params: { id } }))
  const wallet = (id: string) => bodyOf(client.wallets.get({ params: { id } }))
  const pass = (minutes: number) => bodyOf(client.sandbox.advance({ body: { minutes } }))
  const settle = (transferId: string, by = client) => by.transfers.simulateSettle({ body: { transferId } })
  const reject = (transferId: string, reasonCode: string | null = null) =>
    client.transfers.simulateReject({ body: { transferId, reasonCode } })
  const giveBack = (transferId: string, reasonCode: string | null = null) =>
    client.transfers.simulateReturn({ body: { transferId, reasonCode } })
  const recall = (id: string, reason = 'It was paid twice') =>
    client.transfers.recall({ params: { id }, body: { reason } })

  const postings = async (transferId: string) =>
    (await bodyOf(client.ledger.transfers({ query: { referenceId: transferId } }))).data
      .map(({ kind }) => kind)
      .reverse()

  const inSuspense = async () =>
    (await bodyOf(client.ledger.balances({}))).data.find(({ kind }) => kind === 'suspense')?.postedEuros ?? 0

  const proveLedger = (by: TestClient = client) => expectVerifiedLedger(by)

  async function aSubmitted() {
    const transfer = await aSepaTransfer(client, { amountEuros: 777.06 })
    await pass(1)
    expect((await get(transfer.id)).status).toBe('submitted')
    return transfer
  }

  async function aCompleted(amountEuros = 12.5) {
    const transfer = await aSepaTransfer(client, { amountEuros })
    await pass(1)
    expect((await get(transfer.id)).status).toBe('completed')
    return transfer
  }

  /** A wallet can be closed while its money is on its way. */
  const close = (id: string) => bodyOf(client.wallets.close({ params: { id } }))

  return {
    get,
    wallet,
    pass,
    settle,
    reject,
    giveBack,
    recall,
    postings,
    inSuspense,
    proveLedger,
    aSubmitted,
    aCompleted,
    close,
  }
}
