import { beforeEach } from '@jest/globals'
import { aPaymentMethod, bodyOf } from '../factories.ts'
import { startTestService } from '../harness.ts'
import { expectVerifiedLedger } from '../verified-ledger.ts'
import { recordingProcessor } from './processor.ts'

interface Extras {
  readonly paymentMethodId?: string | null
  readonly idempotencyKey?: string
}

/** A service whose processor records its calls; replaced answers are reset after each test. */
export async function startFundingService() {
  const { restore, ...processor } = recordingProcessor()
  beforeEach(restore)
  const service = await startTestService({ outside: { fundingRail: () => processor.rail } })
  const { client } = await service.owner()
  const methodId = (await aPaymentMethod(client)).id
  const fund = (id: string, amountEuros: number, { paymentMethodId = methodId, ...extras }: Extras = {}) =>
    client.fund.wallet({ params: { id }, body: { amountEuros, paymentMethodId }, ...extras })
  const walletOf = (id: string) => bodyOf(client.wallets.get({ params: { id } }))
  const fundingOf = (id: string) => bodyOf(client.fund.get({ params: { id } }))
  const advance = (body: object) => bodyOf(client.sandbox.advance({ body }))
  const latestFunding = async (walletId: string) => {
    const [funding] = (await bodyOf(client.fund.list({ query: { walletId } }))).data
    if (!funding) throw new Error('nothing was begun')
    return funding
  }
  const postingsOf = async (id: string) =>
    (await bodyOf(client.ledger.transfers({ query: { referenceId: id } }))).data.map(({ kind }) => kind)
  const eventsOf = async (fundingId: string) =>
    (
      await service.sql<{ event: string }>(
        `select event from events where data ->> 'fundingId' = $1 order by id`,
        [fundingId],
      )
    ).map(({ event }) => event)

  /** Makes a call look old enough to be recovered. */
  const makeOld = (key: string) =>
    service.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes' where key = $1`, [
      key,
    ])

  const provenLedger = () => expectVerifiedLedger(client)

  return {
    ...processor,
    service,
    client,
    methodId,
    fund,
    walletOf,
    fundingOf,
    advance,
    latestFunding,
    postingsOf,
    eventsOf,
    makeOld,
    provenLedger,
  }
}
