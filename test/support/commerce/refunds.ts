import type { Acquirer, ChargeOutcome } from '../../../src/ports/acquirer.ts'
import { newId } from '../../../src/values/ids.ts'
import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { aRequest, type PaymentRequest, sendEuros } from './requests.ts'

export const refund = (client: TestClient, id: string, amountEuros?: number) =>
  client.collect.refund({ params: { id }, body: amountEuros === undefined ? {} : { amountEuros } })

export async function aPaidRequest(
  client: TestClient,
  walletId: string,
  amounts: readonly number[] = [25],
): Promise<PaymentRequest> {
  const request = await aRequest(client, walletId)
  for (const amount of amounts) await sendEuros(client, amount, request.reference)
  return request
}

export async function refundsOf(client: TestClient, id: string) {
  const { data } = await bodyOf(client.collect.refunds({ params: { id }, query: { limit: 100 } }))
  return data.reverse()
}

type Refund = Parameters<Acquirer['refund']>[0]

/** An acquirer that refunds once per reference, and whose answers a test decides. */
export function recordingAcquirer() {
  const asked: Refund[] = []
  const given = new Map<string, bigint>()
  let answers: ChargeOutcome[] = []
  const acquirer: Acquirer = {
    name: 'recording',
    networks: ['visa'],
    sharedTokens: null,
    accept: () => ({ refused: 'This one charges nothing.' }),
    charge: async () => ({ outcome: 'late' }),
    stateOf: async () => ({ outcome: 'late' }),
    async refund(refund) {
      asked.push(refund)
      const answer = answers.shift() ?? { outcome: 'approved' }
      // A late or garbled answer does not undo the refund.
      if (answer.outcome !== 'declined') given.set(refund.refundReference, refund.amountCents)
      return answer
    },
    returnsOf: async () => ({ refunds: [], chargebacks: [] }),
    returnsSince: null,
    notices: null,
  }
  return {
    acquirer,
    asked,
    givenCents: () => [...given.values()].reduce((sum, cents) => sum + cents, 0n),
    answerWith: (...next: ChargeOutcome[]) => {
      answers = next
    },
  }
}

const PAY = `
with paid as (
  insert into request_payments (owner_id, mode, id, created_at, updated_at, request_id, way, status, amount_cents,
    counted_cents, refunded_cents, wallet_id, source_id, charge, received_at)
  values ($1, 'test', $2, now(), now(), $3, 'card', 'received', $4, $4, 0, $5, $6, $7, now())
)
update payment_requests set status = 'paid', paid_cents = amount_cents, paid_by = 'card', paid_at = now(), due_at = null
where (owner_id, mode, id) = ($1, 'test', $3)`

/** Pays a request by card, as the 402 endpoint does; a funding puts the money into the wallet. */
export async function payByCard(
  { sql }: Pick<TestService, 'sql'>,
  client: TestClient,
  { id, ownerId, walletId, amountEuros }: PaymentRequest,
  handle = 'test approved 2030-01',
): Promise<void> {
  await bodyOf(client.fund.wallet({ params: { id: walletId }, body: { amountEuros } }))
  const sourceId = newId('settlement')
  const charge = { handle, reference: sourceId, descriptor: 'REPORTS' }
  const cents = Math.round(amountEuros * 100)
  await sql(PAY, [ownerId, newId('requestpayment'), id, cents, walletId, sourceId, JSON.stringify(charge)])
}
