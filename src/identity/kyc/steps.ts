import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import {
  type IdentityCall,
  type IdentityCheck,
  type IdentityCheckStatus,
  type IdentityVerification,
  isUnansweredIdentityCheck,
  type UnansweredIdentityCheck,
} from '../../ports/identity-verification.ts'
import { addMs, clock, days } from '../../values/clock.ts'
import { kycApi, type kycDecisionEvents, type kycSteps } from './api.ts'
import { applyProviderAnswer, askProviderNow } from './decide.ts'
import { KycDocument } from './document.ts'
import { readDocumentContent } from './documents.ts'
import { isKycSubmissionOpen, KycSubmission, kycRetryDelay } from './submission.ts'
import { kycEvent } from './submissions.ts'

/** What the provider is asked. The content of documents is read only while it is sent. */
interface IdentityQuestion {
  readonly check: IdentityCheck
  readonly call: IdentityCall
}

function questionOf(
  { id, createdAt, name, dateOfBirth, nationality, address }: KycSubmission,
  documents: readonly KycDocument[],
  { tenant, now, requestId, systems: { files }, service }: ReadContext,
): IdentityQuestion {
  return {
    check: {
      reference: id,
      submittedAt: createdAt,
      person: { name, dateOfBirth, nationality, address },
      documents: documents.map(({ kind, type, sha256 }) => ({
        kind,
        type,
        async bytes() {
          const content = await readDocumentContent(files, tenant, sha256)
          if (!content) throw new Error('the file of a document cannot be read')
          return content
        },
      })),
    },
    call: { requestId, now, returnUrl: service.pageUrl(`/console/identity/${id}`) },
  }
}

/**
 * The question for the provider; null where none is due. Moves the due time, so that two calls never run at once. After a
 * lost answer the provider is asked again: a reference is one check, however often it is submitted.
 */
export async function reserveCheck(
  id: string,
  status: 'pending' | 'in_review',
  context: WriteContext<typeof kycDecisionEvents>,
): Promise<IdentityQuestion | null> {
  const { em, now, systems } = context
  const submission = await em.findOne(KycSubmission, { id }, FOR_UPDATE)
  if (submission?.status !== status || !submission.dueAt || submission.dueAt > now) return null
  const provider = systems.identityVerification()
  if (status === 'in_review' && provider.decider === 'operator') {
    // The check was submitted to another provider, so operators continue it.
    submission.dueAt = null
    return null
  }
  submission.calls++
  submission.provider = provider.name
  submission.dueAt = addMs(now, kycRetryDelay(submission.calls))
  const documents = await em.find(KycDocument, { submissionId: id }, { orderBy: { id: 'asc' } })
  return questionOf(submission, documents, context)
}

/** A check that the provider does not know was lost on its way, and is submitted again under the same reference. */
export async function askProvider(
  { check, call }: IdentityQuestion,
  provider: IdentityVerification,
): Promise<IdentityCheckStatus | UnansweredIdentityCheck> {
  const answer = await provider.inquire(check, call)
  const isLost = !isUnansweredIdentityCheck(answer) && answer.status === 'unknown'
  return isLost ? provider.submit(check, call) : answer
}

export const applyKycNotice: HandlerOf<typeof kycApi.noticed> = async (
  { body: { reference, status } },
  context,
) => ({
  acted: await (status.status === 'changed'
    ? askProviderNow(reference, context)
    : applyProviderAnswer(reference, status, context)),
})

/** Asks the provider each time: an address works once, and is stored nowhere. */
export const openKycPage = externalCall(kycApi.page, {
  async reserve({ params }, context) {
    const { em, systems, refuse } = context
    const submission = await em.findOne(KycSubmission, { id: params.id })
    if (!submission) return refuse('submission_not_found')
    if (!isKycSubmissionOpen(submission)) return refuse('submission_decided')
    if (!systems.identityVerification().page) return refuse('no_page')
    return { id: submission.id, ...questionOf(submission, [], context) }
  },
  call: async ({ check, call }, { systems }) =>
    (await systems.identityVerification().page?.(check, call)) ?? 'unusable',
  async record(answer, { id }, { em, emit, refuse }) {
    if (answer === 'late' || answer === 'unusable') return refuse('provider_silent')
    if (answer.url === null) return refuse('nothing_to_give')
    emit('kyc.page_created', kycEvent(await em.findOneOrFail(KycSubmission, { id })))
    return { url: answer.url }
  },
  recover: async (_, { refuse }) => refuse('provider_silent'),
})

type Redacting = WriteContext<(typeof kycSteps.redact)['emits']>

/** Whether the provider is to erase it now. If it does not answer, or is not the configured one, again the next day. */
export async function reserveRedaction(id: string, { em, systems }: Redacting): Promise<boolean> {
  const submission = await em.findOne(KycSubmission, { id }, FOR_UPDATE)
  const [{ name, redact }, real] = [systems.identityVerification(), clock.real()]
  if (!submission?.redactAt || submission.redactAt > real) return false
  submission.redactAt = addMs(real, days(1))
  return redact !== null && name === submission.provider
}

export const redactAtProvider = async (id: string, provider: IdentityVerification) =>
  (await provider.redact?.(id)) ?? 'late'

export async function recordRedaction(
  id: string,
  answer: 'redacted' | UnansweredIdentityCheck,
  { em, emit }: Redacting,
): Promise<void> {
  const submission = await em.findOne(KycSubmission, { id }, FOR_UPDATE)
  if (answer !== 'redacted' || !submission) return
  submission.redactAt = null
  emit('kyc.redacted', kycEvent(submission))
}
