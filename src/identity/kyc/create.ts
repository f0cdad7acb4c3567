import { inRange } from '../../kernel/contract/conditions.ts'
import type { ContextOf, HandlerOf, InputOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { addMs, days } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import { type Customer, findCustomer } from '../customers/index.ts'
import { findRepresentative } from '../onboarding/index.ts'
import type { kycApi } from './api.ts'
import { applySubmissionStatus, endKycSubmission, wakeKycProcess } from './decide.ts'
import { KycDocument, missingDocumentKind } from './document.ts'
import { kycProcess } from './process.ts'
import { KycSubmission, MAX_SUBMISSIONS_PER_DAY, OPEN_KYC_STATUSES } from './submission.ts'
import { kycEvent, kycSubmissionResponse } from './submissions.ts'

type CreateContext = ContextOf<typeof kycApi.create>
type Body = InputOf<typeof kycApi.create>['body']

const ADULT_YEARS = 18

function isAdult(dateOfBirth: string, now: Date): boolean {
  const latest = new Date(now)
  latest.setUTCFullYear(latest.getUTCFullYear() - ADULT_YEARS)
  return dateOfBirth <= latest.toISOString().slice(0, 10)
}

/** Locks the tenant, so that a person never has two open submissions. */
export const createKycSubmission: HandlerOf<typeof kycApi.create> = async ({ body }, context) => {
  const { em, tenant, now, systems, emit, refuse } = context
  if (!isAdult(body.dateOfBirth, now)) return refuse('person_under_age')
  const { representativeId } = body
  const [, customer, recent, open, documents] = await Promise.all([
    lockTenant(context, 'kyc'),
    findCustomer(em, tenant.ownerId),
    em.count(KycSubmission, { createdAt: inRange({ gt: addMs(now, -days(1)) }) }),
    em.findOne(KycSubmission, { representativeId, status: { $in: OPEN_KYC_STATUSES } }),
    em.find(KycDocument, { id: { $in: body.documentIds } }, FOR_UPDATE_BY_ID),
  ])
  const provider = systems.identityVerification()
  const problem =
    (await personProblem(body, customer, context)) ??
    (provider.takesDocuments ? documentProblem(documents, body, context) : pageProblem(body, context))
  if (problem) return problem
  if (open)
    return refuse(
      'submission_under_way',
      `A submission of this person is already open: see GET /kyc/submissions/${open.id}.`,
    )
  if (recent >= MAX_SUBMISSIONS_PER_DAY) return refuse('too_many_submissions')
  const id = newId('kycsubmission')
  const { documentIds: _, ...members } = body
  const submission = em.create(KycSubmission, {
    ...members,
    id,
    provider: provider.name,
    dueAt: now,
    workflowId: workflowIdOf(kycProcess, id),
  })
  for (const document of documents) Object.assign(document, { submissionId: id, eraseAt: null })
  await applySubmissionStatus(submission, context)
  emit('kyc.submitted', kycEvent(submission))
  wakeKycProcess(submission, context)
  if (provider.decider === 'installation')
    await endKycSubmission(submission, documents, { rejection: null, by: provider.decider }, context)
  return kycSubmissionResponse(submission, documents)
}

async function personProblem(
  { representativeId, name, dateOfBirth }: Body,
  { type, kycStatus }: Customer,
  context: CreateContext,
) {
  const { refuse } = context
  if (representativeId === null) {
    if (type === 'business') return refuse('representative_required')
    return kycStatus === 'verified' ? refuse('already_verified') : undefined
  }
  const person = await findRepresentative(representativeId, context)
  if (!person) return refuse('representative_not_found')
  if (person.status === 'verified') return refuse('already_verified')
  const isSame = person.name.toLowerCase() === name.toLowerCase() && person.dateOfBirth === dateOfBirth
  return isSame ? undefined : refuse('person_differs')
}

const pageProblem = ({ documentIds }: Body, { refuse }: CreateContext) =>
  documentIds.length > 0 ? refuse('documents_at_provider') : undefined

function documentProblem(documents: readonly KycDocument[], body: Body, { refuse }: CreateContext) {
  const unknown = body.documentIds.find(
    wanted => !documents.some(({ id, erasedAt }) => id === wanted && !erasedAt),
  )
  if (unknown) return refuse('document_not_found')
  if (documents.some(({ submissionId }) => submissionId !== null)) return refuse('document_used')
  const missing = missingDocumentKind(documents.map(({ kind }) => kind))
  return missing ? refuse('documents_missing', `documentIds: ${missing}`) : undefined
}
