import type { EmitContext, ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import {
  type FinalIdentityStatus,
  type IdentityCheckStatus,
  type IdentityDecider,
  isUnansweredIdentityCheck,
  type UnansweredIdentityCheck,
} from '../../ports/identity-verification.ts'
import { addMs, clock } from '../../values/clock.ts'
import {
  type customerVerifiedEvents,
  lockAccountHolder,
  moveKycStatus,
  verifyAccountHolder,
} from '../customers/index.ts'
import { recordIdentityStatus } from '../onboarding/index.ts'
import type { kycDecisionEvents, kycEndEvents } from './api.ts'
import { DOCUMENT_RETENTION_MS, KycDocument } from './document.ts'
import { kycProcess } from './process.ts'
import {
  isKycSubmissionOpen,
  isSandboxSubmission,
  type KycRejection,
  KycSubmission,
  kycRejection,
  kycRetryDelay,
  kycSubmissionMachine,
} from './submission.ts'
import { kycEvent } from './submissions.ts'

export const kycSubjectId = ({ representativeId, ownerId }: KycSubmission): string =>
  representativeId ?? ownerId

export const wakeKycProcess = (submission: KycSubmission, { wake }: EmitContext): void =>
  wake(kycProcess, { id: submission.id, agentId: null, about: kycSubjectId(submission) })

/**
 * Applies the submission's status to its subject: a company's representative, or the account holder. The
 * submission is locked first.
 */
export async function applySubmissionStatus(submission: KycSubmission, context: WriteContext): Promise<void> {
  const { representativeId, status, ownerId } = submission
  if (representativeId) await recordIdentityStatus(context, { representativeId, status })
  else if (status !== 'verified') moveKycStatus(await lockAccountHolder(context.em, ownerId), status)
}

async function followEnd(
  submission: KycSubmission,
  context: WriteContext<typeof customerVerifiedEvents>,
): Promise<void> {
  await applySubmissionStatus(submission, context)
  const { representativeId, status, ownerId } = submission
  if (representativeId === null && status === 'verified')
    verifyAccountHolder(await lockAccountHolder(context.em, ownerId), submission, context)
}

type Deciding = WriteContext<typeof kycDecisionEvents>
type Ending = WriteContext<typeof kycEndEvents>

export async function lockKycSubmission(id: string, { em }: WriteContext) {
  const [submission, documents] = await Promise.all([
    em.findOne(KycSubmission, { id }, FOR_UPDATE),
    em.find(KycDocument, { submissionId: id }, FOR_UPDATE_BY_ID),
  ])
  return { submission, documents }
}

export async function applyProviderAnswer(
  id: string,
  answer: IdentityCheckStatus | UnansweredIdentityCheck,
  context: Deciding,
): Promise<boolean> {
  if (isUnansweredIdentityCheck(answer) || answer.status === 'unknown') return false
  const { submission, documents } = await lockKycSubmission(id, context)
  if (!submission) return false
  if (answer.status === 'in_review') return review(submission, answer.expectedAt, context)
  const rejection = answer.status === 'rejected' ? kycRejection(answer.code) : null
  if (isKycSubmissionOpen(submission))
    return endKycSubmission(submission, documents, { rejection, by: deciderOf(context) }, context)
  return recordContradiction(submission, answer, context.now)
}

/** The provider says that something has changed: it is asked at once. */
export async function askProviderNow(id: string, context: Deciding): Promise<boolean> {
  const { submission } = await lockKycSubmission(id, context)
  const { now } = context
  if (!submission?.dueAt || submission.dueAt <= now) return false
  submission.dueAt = now
  wakeKycProcess(submission, context)
  return true
}

const deciderOf = ({ systems }: ReadContext): IdentityDecider => systems.identityVerification().decider

/** The first final answer counts. A contradiction is recorded, so that a person clarifies it with the provider. */
function recordContradiction(submission: KycSubmission, answer: FinalIdentityStatus, now: Date): boolean {
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
  const { now, systems, emit } = context
  if (!isKycSubmissionOpen(submission)) return false
  if (expectedAt && expectedAt > now) submission.dueAt = expectedAt
  if (!kycSubmissionMachine.move(submission, 'in_review')) return false
  submission.calls = 0
  if (systems.identityVerification().decider === 'operator') submission.dueAt = null
  else if (!expectedAt) submission.dueAt = addMs(now, kycRetryDelay(1))
  emit('kyc.in_review', kycEvent(submission))
  wakeKycProcess(submission, context)
  await applySubmissionStatus(submission, context)
  return true
}

interface Decision {
  readonly rejection: KycRejection | null
  readonly by: IdentityDecider
}

export async function endKycSubmission(
  submission: KycSubmission,
  documents: readonly KycDocument[],
  { rejection, by }: Decision,
  context: Ending,
): Promise<boolean> {
  const { now, systems, emit } = context
  if (!kycSubmissionMachine.move(submission, rejection ? 'rejected' : 'verified')) return false
  Object.assign(submission, { rejection, decidedBy: by, decidedAt: now, dueAt: null })
  const provider = systems.identityVerification()
  // The retention of documents starts with the decision.
  const start = isSandboxSubmission(submission) ? now : clock.real()
  const eraseAt = addMs(start, rejection ? DOCUMENT_RETENTION_MS.rejected : DOCUMENT_RETENTION_MS.verified)
  for (const document of documents) document.eraseAt = eraseAt
  if (provider.redact && provider.name === submission.provider) submission.redactAt = eraseAt
  const told = kycEvent(submission)
  if (rejection) emit('kyc.rejected', { ...told, code: rejection.code })
  else emit('kyc.verified', { ...told, decidedBy: by })
  wakeKycProcess(submission, context)
  await followEnd(submission, context)
  return true
}
