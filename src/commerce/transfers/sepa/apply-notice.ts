import { type Reason, reasonOf, recallRefusalOf } from '../../../iso20022/reason-codes.ts'
import {
  isUnanswered,
  type PaymentStatus,
  type RecallStatus,
  type Unanswered,
} from '../../../ports/sepa-rail.ts'
import type { SepaTransfer } from './sepa-transfer.ts'

/** What a rail reports of a payment, asked for it or by itself. */
export const notices = ['settled', 'rejected', 'returned', 'recall_accepted', 'recall_refused'] as const
export type Notice = (typeof notices)[number]

/** The effect of each notice; true if it changed the transfer. A repeated or outdated notice changes nothing. */
const effects: Readonly<
  Record<Notice, (sepaTransfer: SepaTransfer, reason: Reason, now: Date) => Promise<boolean>>
> = {
  settled: async sepaTransfer => sepaTransfer.settle() || markContradiction(sepaTransfer),
  rejected: undo,
  returned: async (sepaTransfer, reason, now) => {
    answerRecall(sepaTransfer, 'accepted', reason, now)
    return sepaTransfer.sendBack(reason)
  },
  recall_accepted: async (sepaTransfer, reason, now) =>
    sepaTransfer.transfer.recall?.status === 'requested' && undo(sepaTransfer, reason, now),
  recall_refused: async (sepaTransfer, reason, now) => answerRecall(sepaTransfer, 'refused', reason, now),
}

/** Brings the money back: a payment that has settled cannot be rejected any more, so it is returned. */
async function undo(sepaTransfer: SepaTransfer, reason: Reason, now: Date): Promise<boolean> {
  answerRecall(sepaTransfer, 'accepted', reason, now)
  return (await sepaTransfer.reject(reason)) || sepaTransfer.sendBack(reason)
}

/** Applies a notice of the rail; true if it changed the transfer. */
export const applyNotice = (
  sepaTransfer: SepaTransfer,
  notice: Notice,
  reasonCode: string | null,
  now: Date,
): Promise<boolean> =>
  effects[notice](sepaTransfer, (notice === 'recall_refused' ? recallRefusalOf : reasonOf)(reasonCode), now)

/** Marks a payment that the bank settles after it has rejected it: a person must ask the bank. */
function markContradiction(sepaTransfer: SepaTransfer): boolean {
  const { status, reason } = sepaTransfer.transfer
  if (status !== 'rejected' || reason?.code === CONTRADICTION.code) return false
  return sepaTransfer.update({ reason: CONTRADICTION })
}

const CONTRADICTION: Reason = {
  code: 'contradiction',
  message:
    'The bank says that it has settled what it had rejected. The money is in the wallet: ask the bank.',
}

function answerRecall(
  sepaTransfer: SepaTransfer,
  status: 'accepted' | 'refused',
  reason: Reason,
  now: Date,
): boolean {
  const { transfer } = sepaTransfer
  const { recall } = transfer
  if (recall?.status !== 'requested') return false
  return sepaTransfer.update({
    recall: { ...recall, status, answeredAt: now.toISOString(), answer: reason },
    dueAt: transfer.status === 'submitted' ? transfer.dueAt : null,
  })
}

/** Applies the rail's answer to a submission or to a question for the status. */
export async function applyStatus(
  sepaTransfer: SepaTransfer,
  answer: PaymentStatus | Unanswered,
  now: Date,
): Promise<boolean> {
  if (isUnanswered(answer)) return markUncertain(sepaTransfer)
  if (answer.status === 'pending') return acknowledge(sepaTransfer, now)
  if (answer.status === 'unknown')
    return isLost(sepaTransfer)
      ? applyNotice(sepaTransfer, 'rejected', 'TM01', now)
      : markUncertain(sepaTransfer)
  return applyNotice(sepaTransfer, answer.status, answer.reasonCode, now)
}

/** Whether an unknown payment never reached the rail: one that the rail has acknowledged cannot be lost. */
const isLost = ({ transfer }: SepaTransfer): boolean =>
  transfer.scheme === 'sct_inst' && transfer.acknowledgedAt === null

export const applyRecallAnswer = async (
  sepaTransfer: SepaTransfer,
  answer: RecallStatus | Unanswered,
  now: Date,
): Promise<boolean> =>
  !isUnanswered(answer) &&
  answer.status !== 'pending' &&
  applyNotice(sepaTransfer, `recall_${answer.status}`, answer.reasonCode, now)

/** The reason of a submitted transfer of which nobody knows whether it was paid. */
const INDETERMINATE: Reason = {
  code: 'indeterminate',
  message: 'The bank has not said what became of it. It is asked again, and nothing is paid twice.',
}

/** Shows that nobody knows the payment's status, until somebody does. */
export function markUncertain(sepaTransfer: SepaTransfer): boolean {
  const { status, reason } = sepaTransfer.transfer
  return status === 'submitted' && reason === null && sepaTransfer.update({ reason: INDETERMINATE })
}

/** Notes that the rail has the payment. An instant one stays uncertain: it should have ended by now. */
function acknowledge(sepaTransfer: SepaTransfer, now: Date): boolean {
  const { transfer } = sepaTransfer
  if (transfer.status !== 'submitted') return false
  transfer.acknowledgedAt ??= now
  return transfer.scheme === 'sct' && transfer.reason !== null && sepaTransfer.update({ reason: null })
}
