import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { mppApi } from './api.ts'
import type { Witness } from './credential.ts'
import { lockPayment } from './outcome.ts'

/** The owner's word about an outcome that nobody knows: a key's, or an operator's by a signal. */
export const resolve: HandlerOf<typeof mppApi.resolve> = async ({ params, body }, context) => {
  const { actor, refuse } = context
  const payment = await lockPayment(params.id, context)
  if (!payment) return refuse('credential_not_found')
  const { credential } = payment
  if (credential.status === 'sent') return refuse('credential_under_way')
  const isOver = credential.status === 'void' || credential.status === 'consumed'
  if (isOver) return refuse('credential_over', `Its outcome is known already: it is ${credential.status}.`)
  const by: Witness = actor.type === 'operator' ? 'operator' : 'key'
  if (body.comment !== undefined) credential.note = body.comment
  if (body.outcome === 'paid') payment.pay(by)
  else if (!(await payment.giveUp(by))) return refuse('network_says_paid')
  return credential
}
