import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { excerpt } from '../../values/schemas.ts'
import type { Dispute } from './dispute.ts'
import { disputeMachine } from './state.ts'

const DisputeEvent = z.object({
  disputeId: id('dispute'),
  transactionId: id('txn'),
  agentId: id('agent').nullable(),
  status: z.enum(disputeMachine.states),
  amountEuros: euros,
  creditedEuros: euros,
  merchant: z.string().max(200),
})

export const changes = [
  'changed',
  'evidence',
  'submitted',
  'credited',
  'taken_back',
  'refunded',
  'reminder',
  'finding',
] as const
export type Change = (typeof changes)[number]

export const disputeEvents = {
  'dispute.created': event('A payment by card is disputed.', DisputeEvent),
  'dispute.updated': event(
    'Something about a dispute has changed: `change` says what.',
    DisputeEvent.extend({ change: z.enum(changes), reason: z.string().optional() }),
  ),
  'dispute.resolved': event(
    'A dispute has ended: it was won, lost or withdrawn, or has lapsed. The card network may decide otherwise later: then it is sent again.',
    DisputeEvent.extend({ reason: z.string().optional() }),
  ),
}

export const disputeEvent = (dispute: Dispute): z.output<typeof DisputeEvent> => ({
  disputeId: dispute.id,
  transactionId: dispute.transactionId,
  agentId: dispute.agentId,
  status: dispute.status,
  amountEuros: dispute.amountEuros,
  creditedEuros: dispute.creditedEuros,
  merchant: excerpt(dispute.merchant),
})
