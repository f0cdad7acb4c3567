import type { Deadline } from '../../kernel/contract/deadline.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { after, days, minutes } from '../../values/clock.ts'
import type { receiptsApi } from './api.ts'
import { matchFacts, noteOn, receiptEvent, standing } from './match.ts'
import { Receipt, receiptMachine } from './receipt.ts'

/** How long after it came a receipt is compared again; then daily, for as long as a payment may be around it. */
const FIRST_LOOKS = [minutes(10), minutes(60), minutes(360)]
const MOST_DAYS = 30
const LOOKS = [...FIRST_LOOKS, ...Array.from({ length: MOST_DAYS }, (_, day) => days(day + 1))]

/** When a receipt that came then is looked at next; null where nobody expects its payment any more. */
export function nextLook(cameAt: Date, now: Date): Date | null {
  const next = LOOKS.find(look => after(cameAt, look) > now)
  return next === undefined ? null : after(cameAt, next)
}

/** A payment may come after its receipt: what was paid since is compared as if it had been there. */
export const lookAgain: HandlerOf<typeof receiptsApi.lookAgain> = async ({ params }, context) => {
  const { records, sql, tenant, now, emit, refuse } = context
  const receipt = await records.lock(Receipt, params.id)
  if (!receipt) return refuse('receipt_not_found')
  const { lookAt, facts, head, createdAt, agentId, delegationId, suggestions } = receipt
  if (!lookAt || lookAt > now || !facts) return { done: true }
  const bringer = { agentId, delegationId }
  const found = await matchFacts(head, facts, { records, sql, tenant, now: createdAt, actor: bringer })
  receipt.lookAt = found.payment ? null : nextLook(createdAt, now)
  const isNews = found.payment || JSON.stringify(found.suggestions) !== JSON.stringify(suggestions)
  if (!isNews) return { done: true }
  const { status, ...members } = standing(found)
  receiptMachine.move(receipt, status)
  Object.assign(receipt, members)
  if (found.payment?.agentId) receipt.agentId = found.payment.agentId
  emit('receipt.updated', receiptEvent(receipt))
  await noteOn([receipt.intentId], context)
  return { done: true }
}

/** No process waits for it: the sweep and the test clock are enough. */
export const lookDue: Deadline = {
  process: { name: 'receipt' },
  table: 'receipts',
  record: 'id',
  agent: 'agent_id',
  due: 'look_at',
  open: 'look_at is not null',
  waits: 'false',
  operations: ['receipts.lookAgain'],
}
