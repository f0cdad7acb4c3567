import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import { area, type Reaction, reaction, type SignedRequestReceiver } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type ContextOf, type HandlerOf } from '../../kernel/contract/operation.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { clock } from '../../values/clock.ts'
import { formatMinute } from '../../values/minute.ts'
import {
  type Customer,
  customerVerifiedEvents,
  type KycStatus,
  lockAccountHolder,
  moveKycStatus,
  verifyAccountHolder,
} from '../customers/index.ts'
import { findOnboardedCompany, missingCompanyItems, OnboardingEvent } from '../onboarding/index.ts'
import { kycApi, kycSteps } from './api.ts'
import { createKycSubmission } from './create.ts'
import { endKycSubmission, kycSubjectId, lockKycSubmission } from './decide.ts'
import { DOCUMENT_ERASURE_SQL, KycDocument } from './document.ts'
import { readKycDocument, uploadKycDocument } from './documents.ts'
import { kycProcess } from './process.ts'
import { applyKycNotice, openKycPage } from './steps.ts'
import {
  isKycSubmissionOpen,
  KYC_REDACTION_SQL,
  type KycRejection,
  KycSubmission,
  type KycSubmissionStatus,
  kycRejection,
  kycRejectionMessage,
  kycSubmissionMachine,
  OPEN_KYC_SUBMISSION_SQL,
} from './submission.ts'
import {
  actForSubmissionOwner,
  findSubmissionTenant,
  kycSubmissionResponse,
  kycSubmissionResponses,
  submissionPageOfAllOwners,
} from './submissions.ts'

interface Holder extends Row {
  readonly type: Customer['type']
  readonly kycStatus: Customer['kycStatus']
  readonly submissionId: string | null
  readonly status: KycSubmissionStatus | null
  readonly rejection: KycRejection | null
}

const HOLDER = `
select c.type, c.kyc_status as "kycStatus", s.id as "submissionId", s.status, s.rejection
from customers c
left join lateral (
  select k.id, k.status, k.rejection from kyc_submissions k
  where k.owner_id = $1 and k.mode = $2 and k.representative_id is null order by k.id desc limit 1) s on true
where c.id = $1`

async function findHolder(sql: Sql, { ownerId, mode }: Tenant): Promise<Holder> {
  const [holder] = await sql<Holder>(HOLDER, [ownerId, mode])
  if (!holder) throw new Error('a tenant without a customer')
  return holder
}

function missingOf({ status, submissionId, rejection }: Holder): string {
  if (submissionId === null || status === null)
    return 'who you are: upload documents with POST /kyc/documents, then send POST /kyc/submissions'
  if (rejection) return `who you are: the last submission was rejected. ${kycRejectionMessage(rejection)}`
  return `the end of the identity check: see GET /kyc/submissions/${submissionId}`
}

async function missingIdentity(sql: Sql, tenant: Tenant): Promise<readonly string[]> {
  return missingFor(await findHolder(sql, tenant), sql, tenant)
}

async function missingFor(holder: Holder, sql: Sql, tenant: Tenant): Promise<string[]> {
  if (holder.kycStatus === 'verified') return []
  return holder.type === 'business' ? missingCompanyItems(sql, tenant) : [missingOf(holder)]
}

const standing: HandlerOf<typeof kycApi.standing> = async (_, { sql, tenant }) => {
  const holder = await findHolder(sql, tenant)
  const { type, kycStatus, submissionId, rejection } = holder
  return {
    customerType: type,
    kycStatus,
    canMakeLiveKeys: kycStatus === 'verified',
    missing: await missingFor(holder, sql, tenant),
    submissionId,
    rejection,
  }
}

const kycStatuses: Readonly<Record<string, KycStatus>> = {
  submitted: 'pending',
  in_review: 'in_review',
  needs_information: 'in_review',
  approved: 'verified',
  rejected: 'rejected',
  withdrawn: 'none',
  expired: 'none',
}

const follow: Reaction = reaction(OnboardingEvent, customerVerifiedEvents, async (told, context) => {
  const to = kycStatuses[told.status]
  if (!to) return
  const customer = await lockAccountHolder(context.em, told.customerId)
  if (to !== 'verified') moveKycStatus(customer, to)
  else verifyAccountHolder(customer, await findOnboardedCompany(told.onboardingId, context), context)
})

const onboardingReactions: Readonly<Record<string, Reaction>> = {
  'onboarding.submitted': follow,
  'onboarding.in_review': follow,
  'onboarding.information_requested': follow,
  'onboarding.approved': follow,
  'onboarding.rejected': follow,
  'onboarding.withdrawn': follow,
  'onboarding.expired': follow,
}

/** Temporal stores this summary of the run, so it contains no names. */
const summaryOf = (submission: KycSubmission): string =>
  `Identity check of ${kycSubjectId(submission)} in ${submission.mode} mode: ${submission.status}`

/** What the run of an identity check reads. */
export async function identityCheckStatus(id: string, { em, now }: ReadContext) {
  const submission = await em.findOne(KycSubmission, { id })
  if (!submission) return undefined
  const { status, calls, dueAt } = submission
  const closed = !isKycSubmissionOpen(submission)
  return {
    status,
    summary: summaryOf(submission),
    closed,
    isSubmitted: status !== 'pending' || calls > 0,
    dueInMs: closed || !dueAt ? null : dueAt.getTime() - now.getTime(),
    deadline: dueAt && formatMinute(dueAt),
    signals: [],
  }
}

const answer = (taken: boolean) => ({ status: 200, body: JSON.stringify({ taken }) })

/** Handles a notice of the provider: verifies its signature, then finds its submission and tenant. */
const receive: SignedRequestReceiver = async (request, tools) => {
  const provider = tools.systems.identityVerification()
  if (!provider.recognizes(request.headers))
    return { unsigned: 'The signature of the identity provider is missing.' }
  const read = provider.read(request.body, request.headers, clock.real())
  if (read.kind === 'unsigned') return { unsigned: read.reason }
  if (read.kind === 'ignored') return { outcome: answer(false) }
  if (read.kind === 'unreadable') throw new Problem('invalid_request', read.reason)
  const tenant = await findSubmissionTenant(read.notice.reference, tools)
  if (!tenant) return { outcome: answer(false) }
  const actor: Actor = { type: 'signed', id: provider.name, tenant, agentId: null, scopes: new Set() }
  const { body } = await tools.run('kyc.noticed', actor, read.notice, request)
  return { outcome: answer(JSON.parse(String(body)).acted === true), actor }
}

type OperatorContext = ContextOf<typeof kycApi.approve>

async function decide(id: string, rejection: KycRejection | null, context: OperatorContext) {
  const { refuse } = context
  if (!(await actForSubmissionOwner(id, context))) return refuse('submission_not_found')
  const { submission, documents } = await lockKycSubmission(id, context)
  if (!submission) return refuse('submission_not_found')
  const isDecided = await endKycSubmission(submission, documents, { rejection, by: 'operator' }, context)
  if (!isDecided) return refuse('submission_decided', `The submission is already ${submission.status}.`)
  return kycSubmissionResponse(submission, documents)
}

const kyc = bindHandlers(kycApi, {
  upload: uploadKycDocument,
  create: createKycSubmission,
  standing,
  page: openKycPage,
  readDocument: readKycDocument,
  noticed: applyKycNotice,
  // The pipeline passes the raw bytes to the webhook's `receive` instead.
  receive: () => ({ taken: false }),

  async list({ query: { status, representativeId, ownerId, mode } }, context) {
    const condition = definedOnly({ status, representativeId, ownerId, mode })
    const { data, ...page } = await (context.actor.tenant
      ? context.page(KycSubmission, condition)
      : submissionPageOfAllOwners(condition, context))
    return { ...page, data: await kycSubmissionResponses(data, context.sql) }
  },

  async get({ params }, context) {
    const { em, sql, refuse } = context
    if (!(await actForSubmissionOwner(params.id, context))) return refuse('submission_not_found')
    const submission = await em.findOne(KycSubmission, { id: params.id })
    const [response] = await kycSubmissionResponses(submission ? [submission] : [], sql)
    return response ?? refuse('submission_not_found')
  },

  approve: ({ params }, context) => decide(params.id, null, context),
  reject: ({ params, body: { code, ...words } }, context) =>
    decide(params.id, kycRejection(code, words), context),
})

export const kycArea = area(
  'KYC',
  'Identity checks of people: documents, reviews, and what is missing before live keys can be created.',
  kyc,
  {
    steps: kycSteps,
    entities: [KycSubmission, KycDocument],
    machines: [kycSubmissionMachine],
    receives: { receive },
    reactions: onboardingReactions,
    findMissingIdentity: missingIdentity,
    deadlines: [
      {
        process: kycProcess,
        table: 'kyc_submissions',
        open: OPEN_KYC_SUBMISSION_SQL,
        waits: 'true',
        activities: ['submitIdentity', 'askProvider'],
      },
      {
        process: { name: 'kyc-document' },
        table: 'kyc_documents',
        due: 'erase_at',
        open: DOCUMENT_ERASURE_SQL,
        activities: ['eraseIdentityDocument'],
      },
      {
        process: { name: 'kyc-redaction' },
        table: 'kyc_submissions',
        due: 'redact_at',
        open: KYC_REDACTION_SQL,
        activities: ['redactIdentityCheck'],
      },
    ],
    openRecords: [
      {
        process: kycProcess,
        select: `select id, owner_id, mode, null::text as agent_id, coalesce(representative_id, owner_id) as about from kyc_submissions where ${OPEN_KYC_SUBMISSION_SQL}`,
      },
    ],
  },
)
