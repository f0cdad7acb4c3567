import { type Reason, reasonOf, recallRefusalOf } from '../../../iso20022/reason-codes.ts'
import {
  isUnanswered,
  type PaymentStatus,
  type RecallStatus,
  type Unanswered,
} from '../../../ports/sepa-rail.ts'
import { type Course, INDETERMINATE } from './sepa-transfer.ts'

/** What a rail can tell of a payment, asked or not. */
export const notices = ['settled', 'rejected', 'returned', 'recall_accepted', 'recall_refused'] as const
export type Notice = (typeof notices)[number]

/** Each says whether it was news: told again, or too late, it changes nothing. */
const effects: Readonly<Record<Notice, (course: Course, reason: Reason, now: Date) => Promise<boolean>>> = {
  settled: async course => course.settle() || contradict(course),
  rejected: undo,
  returned: async (course, reason, now) => {
    answerRecall(course, 'accepted', reason, now)
    return course.sendBack(reason)
  },
  recall_accepted: async (course, reason, now) =>
    course.transfer.recall?.status === 'requested' && undo(course, reason, now),
  recall_refused: async (course, reason, now) => answerRecall(course, 'refused', reason, now),
}

/**
 * The money is back, whoever has asked for it. What has settled already cannot be rejected any more: then it was
 * returned.
 */
async function undo(course: Course, reason: Reason, now: Date): Promise<boolean> {
  answerRecall(course, 'accepted', reason, now)
  return (await course.reject(reason)) || course.sendBack(reason)
}

/** Applies what the rail has told. */
export const hear = (
  course: Course,
  notice: Notice,
  reasonCode: string | null,
  now: Date,
): Promise<boolean> =>
  effects[notice](course, (notice === 'recall_refused' ? recallRefusalOf : reasonOf)(reasonCode), now)

/** A bank that settles what it has rejected needs a person: the money is in the wallet again. */
function contradict(course: Course): boolean {
  const { status, reason } = course.transfer
  if (status !== 'rejected' || reason?.code === CONTRADICTION.code) return false
  return course.update({ reason: CONTRADICTION })
}

const CONTRADICTION: Reason = {
  code: 'contradiction',
  message:
    'The bank says that it has settled what it had rejected. The money is in the wallet: ask the bank.',
}

function answerRecall(course: Course, status: 'accepted' | 'refused', reason: Reason, now: Date): boolean {
  const { transfer } = course
  const { recall } = transfer
  if (recall?.status !== 'requested') return false
  return course.update({
    recall: { ...recall, status, answeredAt: now.toISOString(), answer: reason },
    dueAt: transfer.status === 'submitted' ? transfer.dueAt : null,
  })
}

/** Applies what the rail has answered when it was asked how a payment stands, or to pay. */
export async function hearStatus(
  course: Course,
  answer: PaymentStatus | Unanswered,
  now: Date,
): Promise<boolean> {
  if (isUnanswered(answer)) return doubt(course)
  if (answer.status === 'pending') return acknowledge(course, now)
  if (answer.status === 'unknown')
    return isLost(course) ? hear(course, 'rejected', 'TM01', now) : doubt(course)
  return hear(course, answer.status, answer.reasonCode, now)
}

/** What the rail had once told that it has cannot have been lost on the way to it. */
const isLost = ({ transfer }: Course): boolean =>
  transfer.scheme === 'sct_inst' && transfer.acknowledgedAt === null

export const hearRecall = async (
  course: Course,
  answer: RecallStatus | Unanswered,
  now: Date,
): Promise<boolean> =>
  !isUnanswered(answer) &&
  answer.status !== 'pending' &&
  hear(course, `recall_${answer.status}`, answer.reasonCode, now)

/** Nobody knows how it stands: that is visible until somebody does. */
export function doubt(course: Course): boolean {
  const { status, reason } = course.transfer
  return status === 'submitted' && reason === null && course.update({ reason: INDETERMINATE })
}

/** The rail has it; of an instant payment that is too late to know how it ends. */
function acknowledge(course: Course, now: Date): boolean {
  const { transfer } = course
  if (transfer.status !== 'submitted') return false
  transfer.acknowledgedAt ??= now
  return transfer.scheme === 'sct' && transfer.reason !== null && course.update({ reason: null })
}
