import type { Context } from '../../kernel/contract/context.ts'
import {
  type CheckStatus,
  type FinalStatus,
  isUnanswered,
  type Unanswered,
} from '../../ports/identity-verification.ts'
import { after, clock } from '../../values/clock.ts'
import { lockHolder, moveKyc, type verifiedEvents, verifyHolder } from '../customers/index.ts'
import { recordIdentity } from '../onboarding/index.ts'
import type { decisionEvents, endingEvents } from './api.ts'
import { KEPT_MS, KycDocument } from './document.ts'
import { kycProcess } from './process.ts'
import {
  isOpen,
  isSimulated,
  KycSubmission,
  pauseAfter,
  type Rejection,
  rejectionOf,
  submissionMachine,
} from './submission.ts'
import { kycEvent } from './submissions.ts'

type Following = Pick<Context, 'actor' | 'sql' | 'switchTenant' | 'records' | 'now' | 'wake'>
type Followed = Following & Pick<Context<never, typeof verifiedEvents>, 'emit'>

export const subjectOf = ({ representativeId, ownerId }: KycSubmission): string => representativeId ?? ownerId

export const wakeProcess = (submission: KycSubmission, { wake }: Pick<Context, 'wake'>): void =>
  wake(kycProcess, { id: submission.id, agentId: null, about: subjectOf(submission) })

/**
 * Applies the submission's status to its subject: a company's representative, or the account holder. The
 * submission is locked first.
 */
export async function followSubmission(submission: KycSubmission, context: Following): Promise<void> {
  const { representativeId, status, ownerId } = submission
  if (representativeId) await recordIdentity(context, { representativeId, status })
  else if (status !== 'verified') moveKyc(await lockHolder(context.records, ownerId), status)
}

async function followEnd(submission: KycSubmission, context: Followed): Promise<void> {
  await followSubmission(submission, context)
  const { representativeId, status, ownerId } = submission
  if (representativeId === null && status === 'verified')
    verifyHolder(await lockHolder(context.records, ownerId), submission, context)
}

type Needed = 'actor' | 'sql' | 'switchTenant' | 'records' | 'now' | 'ports' | 'emit' | 'wake'
type Deciding = Pick<Context<never, typeof decisionEvents>, Needed>
type Ending = Pick<Context<never, typeof endingEvents>, Needed>

export async function lockSubmission(id: string, { records }: Pick<Context, 'records'>) {
  const [submission, documents] = await Promise.all([
    records.lock(KycSubmission, id),
    records.find(KycDocument, { submissionId: id }, { orderBy: { id: 'asc' }, lock: true }),
  ])
  return { submission, documents }
}

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
  return recordContradiction(submission, answer, context.now)
}

/** The first final answer counts. A contradiction is recorded, so that a person clarifies it with the provider. */
function recordContradiction(submission: KycSubmission, answer: FinalStatus, now: Date): boolean {
  if (submission.decidedBy !== 'provider' || submission.status === answer.status) return false
  if (submission.contradictedAt) return false
  submission.contradictedAt = now
  return true
}

/**
 * Once the provider has the check, it is polled at the time it estimates, or after a pause. A check by
 * operators is not polled.
 */
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
  readonly rejection: Rejection | null
  readonly by: 'provider' | 'operator'
}

export async function end(
  submission: KycSubmission,
  documents: readonly KycDocument[],
  { rejection, by }: Decision,
  context: Ending,
): Promise<boolean> {
  const { now, emit } = context
  if (!submissionMachine.move(submission, rejection ? 'rejected' : 'verified')) return false
  Object.assign(submission, { rejection, decidedBy: by, decidedAt: now, dueAt: null })
  // The retention of documents starts with the decision.
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
