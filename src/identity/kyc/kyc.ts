import { area } from '../../kernel/contract/area.ts'
import type { Deadline } from '../../kernel/contract/deadline.ts'
import { type ContextOf, implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { kycApi } from './api.ts'
import { create } from './create.ts'
import { end, lockSubmission } from './decide.ts'
import { ERASED_IN_TIME, KycDocument } from './document.ts'
import { eraseDocument, readDocument, upload } from './documents.ts'
import { receive } from './door.ts'
import { actForOwnerOf, pageOfAllOwners } from './find.ts'
import { onboardingReactions } from './onboarding-reactions.ts'
import { kycPersonal } from './personal.ts'
import { kycProcess } from './process.ts'
import { processStatus } from './process-status.ts'
import { type Rejection, rejectionOf } from './rejection.ts'
import { submissionResponse, submissionResponses } from './response.ts'
import { missingIdentity, standing } from './standing.ts'
import { inquire, noticed, submit } from './steps.ts'
import { stepsApi } from './steps-api.ts'
import { KycSubmission, OPEN, submissionMachine } from './submission.ts'

type OperatorContext = ContextOf<typeof kycApi.approve>

/** The operator decides, whoever the provider is. */
async function decide(id: string, rejection: Rejection | null, context: OperatorContext) {
  const { refuse } = context
  if (!(await actForOwnerOf(id, context))) return refuse('submission_not_found')
  const { submission, documents } = await lockSubmission(id, context)
  if (!submission) return refuse('submission_not_found')
  const isDecided = await end(submission, documents, { rejection, by: 'operator' }, context)
  if (!isDecided) return refuse('submission_decided', `The submission is ${submission.status} already.`)
  return submissionResponse(submission, documents)
}

const kyc = implement(
  { ...kycApi, ...stepsApi },
  {
    upload,
    create,
    standing,
    readDocument,
    processStatus,
    submit,
    inquire,
    noticed,
    eraseDocument,
    // The pipeline hands the raw bytes to `receive` of the door in place of this.
    receive: () => ({ taken: false }),

    async list({ query: { status, representativeId, ownerId, mode } }, context) {
      const condition = definedOnly({ status, representativeId, ownerId, mode })
      const { data, ...page } = await (context.actor.tenant
        ? context.page(KycSubmission, condition)
        : pageOfAllOwners(condition, context))
      return { ...page, data: await submissionResponses(data, context.sql) }
    },

    async get({ params }, context) {
      const { records, sql, refuse } = context
      if (!(await actForOwnerOf(params.id, context))) return refuse('submission_not_found')
      const submission = await records.findOne(KycSubmission, { id: params.id })
      const [response] = await submissionResponses(submission ? [submission] : [], sql)
      return response ?? refuse('submission_not_found')
    },

    approve: ({ params }, context) => decide(params.id, null, context),
    reject: ({ params, body: { code, ...words } }, context) =>
      decide(params.id, rejectionOf(code, words), context),
  },
)

const deadline: Pick<Deadline, 'record' | 'agent'> = { record: 'id', agent: 'null::text' }

export const kycArea = area(
  'KYC',
  'The identity of people: their documents, who checks them, and what is missing before live keys can be made.',
  kyc,
  {
    personal: kycPersonal,
    entities: [KycSubmission, KycDocument],
    machines: [submissionMachine],
    receives: { receive },
    reactions: onboardingReactions,
    findMissingIdentity: missingIdentity,
    deadlines: [
      {
        ...deadline,
        process: kycProcess,
        table: 'kyc_submissions',
        due: 'due_at',
        open: OPEN,
        waits: 'true',
        operations: ['kyc.submit', 'kyc.inquire'],
      },
      {
        ...deadline,
        process: { name: 'kyc-document' },
        table: 'kyc_documents',
        due: 'erase_at',
        open: ERASED_IN_TIME,
        waits: 'false',
        operations: ['kyc.eraseDocument'],
      },
    ],
    openRecords: [
      {
        process: kycProcess,
        select: `select id, owner_id, mode, null::text as agent_id, coalesce(representative_id, owner_id) as about from kyc_submissions where ${OPEN}`,
      },
    ],
  },
)
