import type { Tenant } from '../../kernel/contract/actor.ts'
import { AnswerNow } from '../../kernel/contract/handlers.ts'
import { type ContextOf, externalCall, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { RunningService, Systems } from '../../kernel/contract/ports.ts'
import {
  type IdentityCall,
  type IdentityCheck,
  type IdentityCheckStatus,
  isUnansweredIdentityCheck,
  type UnansweredIdentityCheck,
} from '../../ports/identity-verification.ts'
import { addMs, clock, days } from '../../values/clock.ts'
import { kycApi, kycStepsApi } from './api.ts'
import { applyProviderAnswer, askProviderNow } from './decide.ts'
import { KycDocument } from './document.ts'
import { readDocumentContent } from './documents.ts'
import { isKycSubmissionOpen, KycSubmission, kycRetryDelay } from './submission.ts'
import { kycEvent } from './submissions.ts'

type StepContext = ContextOf<typeof kycStepsApi.submit>

const NOTHING = { acted: false }

interface Request {
  readonly id: string
  readonly tenant: Tenant
  readonly now: Date
  readonly check: Omit<IdentityCheck, 'documents'>
  readonly documents: readonly Pick<KycDocument, 'kind' | 'type' | 'sha256'>[]
}

/** Moves the due time before the call, so that two calls never run at once. */
async function reserve(
  id: string,
  status: 'pending' | 'in_review',
  context: StepContext,
): Promise<Request | AnswerNow<typeof NOTHING> | ReturnType<StepContext['refuse']>> {
  const { records, tenant, now, systems, refuse } = context
  const submission = await records.lock(KycSubmission, id)
  if (!submission) return refuse('submission_not_found')
  const isDue = submission.dueAt !== null && submission.dueAt <= now
  if (submission.status !== status || !isDue) return new AnswerNow(NOTHING)
  const provider = systems.identityVerification()
  if (status === 'in_review' && provider.decider === 'operator') {
    // The check was submitted to another provider, so operators continue it.
    submission.dueAt = null
    return new AnswerNow(NOTHING)
  }
  submission.calls++
  submission.provider = provider.name
  submission.dueAt = addMs(now, kycRetryDelay(submission.calls))
  const documents = await records.find(KycDocument, { submissionId: id }, { orderBy: { id: 'asc' } })
  return { id, tenant, now, check: checkOf(submission), documents: documents.map(sentOf) }
}

const sentOf = ({ kind, type, sha256 }: KycDocument) => ({ kind, type, sha256 })

const checkOf = ({ id, createdAt, name, dateOfBirth, nationality, address }: KycSubmission) => ({
  reference: id,
  submittedAt: createdAt,
  person: { name, dateOfBirth, nationality, address },
})

function wholeCheck({ check, documents, tenant }: Request, { files }: Pick<Systems, 'files'>): IdentityCheck {
  return {
    ...check,
    documents: documents.map(({ kind, type, sha256 }) => ({
      kind,
      type,
      async bytes() {
        const content = await readDocumentContent(files, tenant, sha256)
        if (!content) throw new Error('the file of a document cannot be read')
        return content
      },
    })),
  }
}

const callOf = (
  { id, now }: Pick<Request, 'id' | 'now'>,
  { pageUrl }: RunningService,
  requestId: string,
): IdentityCall => ({
  requestId,
  now,
  returnUrl: pageUrl(`/console/identity/${id}`),
})

const record = async (
  answer: IdentityCheckStatus | UnansweredIdentityCheck,
  { id }: Request,
  context: StepContext,
) => ({
  acted: await applyProviderAnswer(id, answer, context),
})

/** After a lost answer the provider is called again: a reference is one check, however often it is submitted. */
const recover = async () => NOTHING

export const submitToKycProvider = externalCall(kycStepsApi.submit, {
  reserve: ({ params }, context) => reserve(params.id, 'pending', context),
  call: (request, { systems, service, requestId }) =>
    systems.identityVerification().submit(wholeCheck(request, systems), callOf(request, service, requestId)),
  record,
  recover,
})

/** A check that the provider does not know was lost on its way, and is submitted again under the same reference. */
export const inquireKycProvider = externalCall(kycStepsApi.inquire, {
  reserve: ({ params }, context) => reserve(params.id, 'in_review', context),
  async call(request, { systems, service, requestId }) {
    const provider = systems.identityVerification()
    const check = wholeCheck(request, systems)
    const call = callOf(request, service, requestId)
    const answer = await provider.inquire(check, call)
    const isLost = !isUnansweredIdentityCheck(answer) && answer.status === 'unknown'
    return isLost ? provider.submit(check, call) : answer
  },
  record,
  recover,
})

export const applyKycNotice: HandlerOf<typeof kycStepsApi.noticed> = async (
  { body: { reference, status } },
  context,
) => ({
  acted: await (status.status === 'changed'
    ? askProviderNow(reference, context)
    : applyProviderAnswer(reference, status, context)),
})

/** Asks the provider each time: an address works once, and is stored nowhere. */
export const openKycPage = externalCall(kycApi.page, {
  async reserve({ params }, { records, tenant, now, systems, refuse }) {
    const submission = await records.findOne(KycSubmission, { id: params.id })
    if (!submission) return refuse('submission_not_found')
    if (!isKycSubmissionOpen(submission)) return refuse('submission_decided')
    if (!systems.identityVerification().page) return refuse('no_page')
    return { id: submission.id, tenant, now, check: checkOf(submission), documents: [] }
  },
  call: async (request, { systems, service, requestId }) =>
    (await systems
      .identityVerification()
      .page?.(wholeCheck(request, systems), callOf(request, service, requestId))) ?? 'unusable',
  async record(answer, { id }, { records, emit, refuse }) {
    if (answer === 'late' || answer === 'unusable') return refuse('provider_silent')
    if (answer.url === null) return refuse('nothing_to_give')
    emit('kyc.page_created', kycEvent(await records.findOneOrFail(KycSubmission, { id })))
    return { url: answer.url }
  },
  recover: async (_, { refuse }) => refuse('provider_silent'),
})

const DONE = { done: true }

/** Tried again the next day if the provider does not answer, or is not the configured one. */
export const redactAtKycProvider = externalCall(kycStepsApi.redact, {
  async reserve({ params }, { records, systems, refuse }) {
    const submission = await records.lock(KycSubmission, params.id)
    if (!submission) return refuse('submission_not_found')
    const [{ name, redact }, real] = [systems.identityVerification(), clock.real()]
    if (!submission.redactAt || submission.redactAt > real) return new AnswerNow(DONE)
    submission.redactAt = addMs(real, days(1))
    return redact && name === submission.provider ? { id: submission.id } : new AnswerNow(DONE)
  },
  call: async ({ id }, { systems }) => (await systems.identityVerification().redact?.(id)) ?? 'late',
  async record(answer, { id }, { records, emit }) {
    const submission = await records.lock(KycSubmission, id)
    if (answer === 'redacted' && submission) {
      submission.redactAt = null
      emit('kyc.redacted', kycEvent(submission))
    }
    return DONE
  },
  recover: async () => DONE,
})
