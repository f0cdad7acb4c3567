import type { Context } from '../../../kernel/contract/context.ts'
import type { RepeatedCall } from '../../../kernel/contract/handlers.ts'
import type { Refusal } from '../../../kernel/contract/problem.ts'
import { MppCredential } from '../credential.ts'
import { hasAskedFor, keptAnswer, MachinePayment, MachinePaymentAnswer, type PaidAnswer } from '../payment.ts'

/** What a request has stored that has ordered a payment; one of 0.7.0 knows the credential only. */
type Ordered = { readonly id: string } | { readonly credentialId?: string }

function orderedId({ reservation, answer }: RepeatedCall<Ordered>): string | undefined {
  if (reservation) return 'id' in reservation ? reservation.id : reservation.credentialId
  if (!answer?.body || answer.status >= 400) return undefined
  const { credential_id: credentialId, id = credentialId } = JSON.parse(answer.body)
  return id
}

type RepeatContext = Context<'asked_by_another'>

const ofAnother = (id: string): string =>
  `Another credential has asked for the payment ${id} under this Idempotency-Key. GET /v1/mpp/payments/${id} shows its outcome. Nothing was paid again.`

/** What was bought, and the credential that pays, are for who has asked. */
export async function repeatMinting(
  repeated: RepeatedCall<Ordered>,
  { em, actor, refuse }: RepeatContext,
): Promise<Refusal | undefined> {
  const id = orderedId(repeated)
  const payment = id === undefined ? null : await em.findOne(MachinePayment, { id })
  return payment && !hasAskedFor(payment, actor)
    ? refuse('asked_by_another', ofAnother(payment.id))
    : undefined
}

/** What was bought is sealed, and kept for ten minutes; the rest of the answer is in the record. */
export async function repeatPayment(
  repeated: RepeatedCall<Ordered>,
  { em, actor, systems, refuse }: RepeatContext,
): Promise<PaidAnswer | Refusal | undefined> {
  const id = orderedId(repeated)
  if (id === undefined) return undefined
  const [payment, credential, answer] = await Promise.all([
    em.findOne(MachinePayment, { id }),
    em.findOne(MppCredential, { id }),
    em.findOne(MachinePaymentAnswer, { id }),
  ])
  if (payment && !hasAskedFor(payment, actor)) return refuse('asked_by_another', ofAnother(id))
  if (repeated.answer?.status !== 200 || !credential) return undefined
  return (payment && keptAnswer(answer, systems.vault)) ?? withoutBody(credential)
}

const withoutBody = ({ id, merchantStatus, receipt, note }: MppCredential): PaidAnswer => ({
  credential_id: id,
  merchant_status: merchantStatus ?? 200,
  receipt,
  merchant_body: {},
  note: [
    ...(receipt === null && note !== null ? [note] : []),
    'What was bought is kept for ten minutes, and is gone. Nothing was paid again.',
  ].join(' '),
})
