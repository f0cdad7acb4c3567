import type { Context } from '../../kernel/contract/context.ts'
import type { ToolAnswer, ToolTarget } from '../../kernel/contract/tool.ts'
import { type ToolResult, toolRefusal, toolResultFromAnswer, toolSuccess } from './tool-call.ts'

interface MachinePayment {
  readonly id: string
  readonly status: string
  readonly [member: string]: unknown
}

export const openPaymentStatuses = ['waiting', 'ordering', 'sent']

const ACCEPTED = 202

export const isAccepted = ({ operation }: ToolTarget, { status }: ToolAnswer): boolean =>
  operation === 'mpp.pay' && status === ACCEPTED

const current = ({ body }: ToolAnswer, context: Context): Promise<ToolAnswer> =>
  context.service.tools.call(context, 'mpp.payment', { id: (body as MachinePayment).id }, null)

/** What came of it since: a repeated call has the answer of the first one. */
export async function resultOfAccepted(answer: ToolAnswer, context: Context): Promise<ToolResult> {
  const read = await current(answer, context)
  return read.refusal
    ? toolResultFromAnswer(answer)
    : resultOfPayment(read.body as MachinePayment, answer.isRepeated)
}

/** Whether a repeated call has the answer of a payment that has ended unpaid since, or that another call continues. */
export async function isToBePaidAgain(answer: ToolAnswer, context: Context): Promise<boolean> {
  if (!answer.isRepeated) return false
  const { status } = ((await current(answer, context)).body ?? {}) as Partial<MachinePayment>
  return status === 'ended' || status === 'awaiting_person'
}

const UNPAID: Readonly<Record<string, readonly [code: string, sentence: string]>> = {
  awaiting_person: [
    'action_required',
    'The card’s issuer wants a person to confirm this payment: nextAction of its credential has the page. Nothing was sent. Once it is confirmed, call pay_http_402 again.',
  ],
  indeterminate: [
    'payment_indeterminate',
    'The credential was sent, and whether it was paid is unknown. The money stays held. Do not pay in another way.',
  ],
}

export function resultOfPayment(payment: MachinePayment, isRepeated = false): ToolResult {
  const { id, status, answer, reason } = payment
  const unpaid = UNPAID[status]
  if (unpaid) return toolRefusal(...unpaid, [], { payment })
  if (status === 'ended')
    return toolRefusal(String(reason ?? 'not_paid'), 'The payment has ended: nothing was paid.', [], {
      payment,
    })
  if (status === 'paid' && answer) return toolSuccess(answer, isRepeated)
  const sentence =
    status === 'paid'
      ? 'It was paid. What was bought is kept for ten minutes, and only for the key or token that has asked.'
      : `The payment ${id} goes on. Do not pay in another way.`
  return toolSuccess(payment, isRepeated, sentence)
}
