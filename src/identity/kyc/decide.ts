import type { Context } from '../../kernel/contract/context.ts'
import {
  type CheckStatus,
  type FinalStatus,
  isUnanswered,
  type Unanswered,
} from '../../ports/identity-verification.ts'
import { after, clock } from '../../values/clock.ts'
import { KEPT_MS, KycDocument } from './document.ts'
import { type Rejection, rejectionOf } from './rejection.ts'
import { kycEvent } from './response.ts'
import type { decisionEvents, endingEvents } from './schemas.ts'
import { followEnd, followSubmission, wakeProcess } from './subject.ts'
import { isOpen, isSimulated, KycSubmission, pauseAfter, submissionMachine } from './submission.ts'

type Needed = 'actor' | 'sql' | 'actFor' | 'records' | 'now' | 'ports' | 'emit' | 'wake'
type Deciding = Pick<Context<never, typeof decisionEvents>, Needed>
type Ending = Pick<Context<never, typeof endingEvents>, Needed>

/** A submission with its documents, both locked; null where there is none of this id. */
export async function lockSubmission(id: string, { records }: Pick<Context, 'records'>) {
  const [submission, documents] = await Promise.all([
    records.lock(KycSubmission, id),
    records.find(KycDocument, { submissionId: id }, { orderBy: { id: 'asc' }, lock: true }),
  ])
  return { submission, documents }
}

/** Applies what the provider says of a check; true if it changed the submission. */
export async function applyAnswer(
  id: string,
  answer: CheckStatus | Unanswered,
  context: Deciding,
): Promise<boolean> {
  if (isUnanswered(answer) || answer.status === 'unknown') return false
  const { submission, documents } = await lockSubmission(id, context)
  if (!submission) return false
  if (answer.status === 'in_review') return review(submission, answer.expectedAt, context)
  const rejection = answer.status === 'rejected' ? rejectionOf(answer.code) : null
  if (isOpen(submission)) return end(submission, documents, { rejection, by: 'provider' }, context)
  return noteContradiction(submission, answer, context.now)
}

/** The first final answer stands. What says the opposite is noted, for a person to ask the provider. */
function noteContradiction(submission: KycSubmission, answer: FinalStatus, now: Date): boolean {
  if (submission.decidedBy !== 'provider' || submission.status === answer.status) return false
  if (submission.contradictedAt) return false
  submission.contradictedAt = now
  return true
}

/** The provider has the check: it is asked when it expects to be done, or after a while. Operators are not asked. */
async function review(
  submission: KycSubmission,
  expectedAt: Date | undefined,
  context: Deciding,
): Promise<boolean> {
  const { now, ports, emit } = context
  if (!isOpen(submission)) return false
  if (expectedAt && expectedAt > now) submission.dueAt = expectedAt
  if (!submissionMachine.move(submission, 'in_review')) return false
  submission.calls = 0
  if (ports.identityVerification().isManual) submission.dueAt = null
  else if (!expectedAt) submission.dueAt = after(now, pauseAfter(1))
  emit('kyc.in_review', kycEvent(submission))
  wakeProcess(submission, context)
  await followSubmission(submission, context)
  return true
}

interface Decision {
  /** Null where the person is verified. */
  readonly rejection: Rejection | null
  readonly by: 'provider' | 'operator'
}

/** Ends an open submission that is locked: the person is verified, or rejected. */
export async function end(
  submission: KycSubmission,
  documents: readonly KycDocument[],
  { rejection, by }: Decision,
  context: Ending,
): Promise<boolean> {
  const { now, emit } = context
  if (!submissionMachine.move(submission, rejection ? 'rejected' : 'verified')) return false
  Object.assign(submission, { rejection, decidedBy: by, decidedAt: now, dueAt: null })
  // From the decision on it counts how long they are kept.
  const start = isSimulated(submission) ? now : clock.real()
  const eraseAt = after(start, rejection ? KEPT_MS.rejected : KEPT_MS.verified)
  for (const document of documents) document.eraseAt = eraseAt
  const told = kycEvent(submission)
  if (rejection) emit('kyc.rejected', { ...told, code: rejection.code })
  else emit('kyc.verified', told)
  wakeProcess(submission, context)
  await followEnd(submission, context)
  return true
}
