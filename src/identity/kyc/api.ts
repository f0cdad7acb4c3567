import { z } from 'zod'
import { internal, operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { actedSchema, notFound, post, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { uploadSchema } from '../../kernel/contract/upload.ts'
import { shownOnceSchema } from '../../kernel/run/outcome.ts'
import {
  type IdentityNotice,
  identityDeciders,
  identityDocumentKinds,
  identityRejectionCodes,
} from '../../ports/identity-verification.ts'
import { instant } from '../../values/clock.ts'
import { FILE_KINDS } from '../../values/file-kind.ts'
import { id } from '../../values/ids.ts'
import {
  countrySchema,
  freeTextSchema,
  labelSchema,
  PostalAddressRecord,
  postalAddressSchema,
  recordHead,
  recordTimestamps,
} from '../../values/schemas.ts'
import { customerVerifiedEvents } from '../customers/index.ts'
import { KYC_DOCUMENT_TYPES } from './document.ts'
import { kycSubmissionMachine } from './submission.ts'

const status = z.enum(kycSubmissionMachine.states)
const documentKind = z.enum(identityDocumentKinds)

const representativeId = id('representative').nullable().meta({
  description: 'The representative of a company; null for the account holder.',
})

const DocumentRecord = z
  .object({
    ...recordHead('kycdocument'),
    submissionId: id('kycsubmission').nullable(),
    kind: documentKind,
    type: z.enum(FILE_KINDS).meta({ description: 'File type, detected from the first bytes.' }),
    bytes: z.int(),
    sha256: z.string(),
    eraseAt: instant.nullable().meta({
      description: 'Time of the erasure. Null until the submission is decided, and once it is erased.',
    }),
    erasedAt: instant.nullable(),
    ...recordTimestamps,
  })
  .meta({ id: 'KycDocument' })

const RejectionRecord = z.object({
  code: z.enum(identityRejectionCodes),
  reason: z.string(),
  sendInstead: z
    .string()
    .nullable()
    .meta({ description: 'What to send instead. Null if nothing would help.' }),
})

const SubmissionRecord = z
  .object({
    ...recordHead('kycsubmission'),
    representativeId,
    status,
    provider: z
      .string()
      .meta({ description: 'The provider of the check: `KYC_PROVIDER`.', examples: ['sandbox'] }),
    name: z.string(),
    dateOfBirth: z.iso.date(),
    nationality: z.string(),
    address: PostalAddressRecord,
    documents: z.array(
      DocumentRecord.pick({ id: true, kind: true, type: true, bytes: true, eraseAt: true, erasedAt: true }),
    ),
    rejection: RejectionRecord.nullable().meta({
      description: 'Why the submission was rejected. Null unless it is `rejected`.',
    }),
    decidedBy: z.enum(identityDeciders).nullable(),
    decidedAt: instant.nullable(),
    redactAt: instant.nullable().meta({
      description: 'When the provider erases what it has collected. Null if it keeps nothing.',
    }),
    contradictedAt: instant.nullable().meta({
      description:
        'The time at which the provider contradicted its final answer. The first answer counts: ask the provider.',
    }),
    workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'KycSubmission' })

/** Contains only ids, since a person's details must not leave the service in events. */
const KycEvent = z.object({
  submissionId: id('kycsubmission'),
  customerId: id('customer'),
  representativeId,
  status,
})

const KycDocumentEvent = z.object({
  documentId: id('kycdocument'),
  submissionId: id('kycsubmission').nullable(),
  kind: documentKind,
})

const kycEvents = {
  'kyc.submitted': declareEvent('A person has submitted their identity.', KycEvent),
  'kyc.in_review': declareEvent('The documents of a person are being reviewed.', KycEvent),
  'kyc.verified': declareEvent(
    'The identity of a person is verified.',
    KycEvent.extend({ decidedBy: z.enum(identityDeciders) }),
  ),
  'kyc.rejected': declareEvent(
    'The identity of a person was rejected. The submission says why, and what to send instead.',
    KycEvent.extend({ code: z.enum(identityRejectionCodes) }),
  ),
  'kyc.page_created': declareEvent('The provider’s page for a person has been handed out.', KycEvent),
  'kyc.redacted': declareEvent(
    'The provider of identity checks has erased what it had collected from a person.',
    KycEvent,
  ),
}

const documentEvents = {
  'kyc.document_uploaded': declareEvent('A document of a person has been uploaded.', KycDocumentEvent),
  'kyc.document_read': declareEvent('The operator has read a document of a person.', KycDocumentEvent),
  'kyc.document_erased': declareEvent(
    'A document of a person was erased at the end of its retention.',
    KycDocumentEvent,
  ),
}

export const kycEndEvents = {
  'kyc.verified': kycEvents['kyc.verified'],
  'kyc.rejected': kycEvents['kyc.rejected'],
  ...customerVerifiedEvents,
}

export const kycDecisionEvents = { 'kyc.in_review': kycEvents['kyc.in_review'], ...kycEndEvents }

const kycFails = {
  submission_not_found: notFound('identity submission'),
  document_not_found: notFound('document'),
  document_erased: [410, 'The document was erased at the end of its retention.'],
  submission_decided: [400, 'The submission is already decided. The first decision is final.'],
} as const satisfies Record<string, RefusalSpec>

const readers = operationsFor({ callers: ['key', 'dash'], scope: 'kyc:read' })
const writers = operationsFor({ callers: ['key'], scope: 'kyc:write' })

const { submission_not_found, submission_decided, document_not_found, document_erased } = kycFails
const decides = { submission_not_found, submission_decided }

const webhookDescription = [
  'The webhook of the identity verification provider. The signature over the raw body is verified before anything is read.',
  'The first final answer counts: repetitions change nothing, and a contradiction is recorded in the submission as `contradictedAt`, for a person to clarify.',
].join('\n\n')

/** Only the provider's webhook creates this, from a notice with a verified signature. */
const notice = z.custom<IdentityNotice>(
  value => typeof value === 'object' && value !== null && 'reference' in value && 'status' in value,
  'must be a notice of the identity provider',
)

export const kycApi = {
  upload: writers.post('/kyc/documents', {
    summary: 'Upload a document of a person',
    description:
      'Uploads one file; `POST /kyc/submissions` then names it. A document that no submission names is erased after a day. Documents are encrypted. Only the operator can read them, and you in an export (`POST /gdpr/exports`).',
    body: z.strictObject({
      kind: documentKind.meta({
        description: 'An identity card needs both sides, one file each.',
        examples: [identityDocumentKinds[0]],
      }),
      file: uploadSchema({ maxMib: 10, kinds: KYC_DOCUMENT_TYPES }),
    }),
    example: { kind: 'passport', file: 'JVBERi0xLjQK' },
    returns: [201, DocumentRecord],
    fails: {
      too_many_documents: [
        400,
        'Fifty documents are already waiting for a submission. They are erased a day after their upload.',
      ],
    },
    emits: { 'kyc.document_uploaded': documentEvents['kyc.document_uploaded'] },
  }),
  create: writers.post('/kyc/submissions', {
    summary: 'Submit the identity of a person',
    description:
      'Submits the identity of the account holder or, for a company, of a representative named with `POST /onboarding`. Send a passport, or both sides of an identity card; a proof of address and a register extract are optional. After a rejection, send another submission: `rejection.sendInstead` says what helps.',
    body: z.strictObject({
      representativeId: id('representative').nullable().default(null).meta({
        description: 'The representative of a company. Omitted by an individual.',
      }),
      name: labelSchema.meta({ description: 'Name as in the document.', examples: ['Ada Lovelace'] }),
      dateOfBirth: z.iso
        .date()
        .max(10)
        .refine(date => date >= '1900-01-01', '1900-01-01 or later')
        .meta({ description: 'Date of birth, at least 18 years ago.', examples: ['1985-12-10'] }),
      nationality: countrySchema,
      address: postalAddressSchema.meta({ description: 'Home address of the person.' }),
      documentIds: z
        .array(id('kycdocument'))
        .max(10)
        .default([])
        .refine(ids => new Set(ids).size === ids.length, 'each document once')
        .meta({
          description:
            'IDs from `POST /kyc/documents`. Omitted with `KYC_PROVIDER=stripe`: the person gives documents at its page.',
        }),
    }),
    example: {
      name: 'Ada Lovelace',
      dateOfBirth: '1985-12-10',
      nationality: 'DE',
      address: { line1: 'Torstraße 1', line2: null, city: 'Berlin', postalCode: '10119', country: 'DE' },
      documentIds: ['kycdocument_01jd8x2m4ye7k9v0c3q5r6t8wz'],
    },
    returns: [201, SubmissionRecord],
    fails: {
      person_under_age: [400, 'dateOfBirth: a person must be at least 18 years old.'],
      representative_required: [
        400,
        'representativeId: the account is a company’s, so name the representative of its onboarding. See GET /onboarding.',
      ],
      representative_not_found: [404, 'representativeId: no open onboarding lists this representative.'],
      person_differs: [400, 'name and dateOfBirth do not match the representative. See GET /onboarding.'],
      already_verified: [400, 'The person is already verified.'],
      submission_under_way: [400, 'A submission of this person is already open. See GET /kyc/submissions.'],
      document_not_found: [
        404,
        'documentIds: no such document, or it was erased. Upload it with POST /kyc/documents.',
      ],
      document_used: [400, 'documentIds: one of them belongs to another submission. Upload it again.'],
      too_many_submissions: [400, 'The limit of fifty submissions per day is reached. Try again tomorrow.'],
      documents_missing: [400, 'documentIds: a passport is missing, or both sides of an identity card.'],
      documents_at_provider: [
        400,
        'documentIds: leave it out. The person gives documents at the page of POST /kyc/submissions/{id}/page.',
      ],
    },
    emits: { 'kyc.submitted': kycEvents['kyc.submitted'], ...kycEndEvents },
  }),
  list: readers.list('/kyc/submissions', {
    summary: 'List identity submissions',
    description:
      'Newest first: your own or, with the dashboard secret, those of all owners. Filter with `ownerId` and `mode`.',
    filters: {
      status: status.optional(),
      representativeId: id('representative').optional(),
      ownerId: id('customer').optional(),
      mode: z.enum(['test', 'live']).optional(),
    },
    item: SubmissionRecord,
  }),
  get: readers.getOne('/kyc/submissions/{id}', 'an identity submission', SubmissionRecord, {
    submission_not_found,
  }),
  page: writers.post('/kyc/submissions/{id}/page', {
    summary: 'Get the provider’s page for a person',
    description:
      'With `KYC_PROVIDER=stripe` the person shows a document and their face there. The address works once and for a short time: get another one when it is needed, and give it to this person only.',
    run: 'external',
    requires: 'identityVerification',
    returns: [200, z.object({ url: shownOnceSchema('https://verify.stripe.com/start/live_a1') })],
    fails: {
      submission_not_found,
      submission_decided,
      no_page: [400, 'The provider has no page: documents come with the submission.'],
      nothing_to_give: [400, 'The person has given everything. The provider decides.'],
      provider_silent: [504, 'The provider did not answer in time. Try again with a new Idempotency-Key.'],
    },
    emits: { 'kyc.page_created': kycEvents['kyc.page_created'] },
  }),
  standing: readers.get('/kyc/status', {
    callers: ['key'],
    summary: 'See what is missing before live keys can be created',
    returns: [
      200,
      z
        .object({
          customerType: z.enum(['individual', 'business']),
          kycStatus: z.enum(['none', 'pending', 'in_review', 'verified', 'rejected']),
          canMakeLiveKeys: z.boolean(),
          missing: z.array(z.string()).meta({
            description: 'What is missing, in words. Empty once live keys can be created.',
            examples: [['the identity of Ada Lovelace']],
          }),
          submissionId: id('kycsubmission').nullable().meta({
            description: 'The newest submission of the account holder.',
          }),
          rejection: RejectionRecord.nullable().meta({ description: 'Why that submission was rejected.' }),
        })
        .meta({ id: 'KycStanding' }),
    ],
  }),
  approve: operator.post('/kyc/submissions/{id}/approve', {
    summary: 'Verify a person',
    description:
      'Review the documents first. A verified person can create live keys, or enables a company to.',
    returns: [200, SubmissionRecord],
    fails: decides,
    emits: kycEndEvents,
  }),
  reject: operator.post('/kyc/submissions/{id}/reject', {
    summary: 'Reject a submission',
    description: 'The person reads the reason, and what to send instead.',
    body: z.strictObject({
      code: z.enum(identityRejectionCodes).default('other'),
      reason: freeTextSchema
        .min(1)
        .optional()
        .meta({ description: 'Replaces the standard text of the code.' }),
      sendInstead: freeTextSchema
        .min(1)
        .nullable()
        .optional()
        .meta({ description: 'Replaces the standard advice of the code.' }),
    }),
    example: { code: 'document_expired' },
    returns: [200, SubmissionRecord],
    fails: decides,
    emits: kycEndEvents,
  }),
  readDocument: operator.get('/kyc/documents/{id}/content', {
    summary: 'Read a document of a person',
    description: 'Sent as an attachment. Each download is in the audit trail of the owner, and an event.',
    run: 'external',
    returns: [200, fileSchema('application/octet-stream')],
    fails: {
      document_not_found,
      document_erased,
      document_damaged: [
        503,
        'The file of the document is damaged or missing. Restore it from the backup of FILES_DIR.',
      ],
    },
    emits: { 'kyc.document_read': documentEvents['kyc.document_read'] },
  }),
  receive: post('/rails/identity-verification', {
    summary: 'Receive a signed notice of the identity provider',
    description: webhookDescription,
    callers: ['signed'],
    body: z.strictObject({}),
    returns: [200, z.object({ taken: z.boolean() })],
    emits: kycDecisionEvents,
  }),
  noticed: internal.post('/kyc/submissions/noticed', {
    summary: 'Take note of what the provider tells',
    body: notice,
    returns: [200, actedSchema],
    emits: kycDecisionEvents,
  }),
}

const outside = { calls: 'identityVerification', emits: kycDecisionEvents } as const

/** Each may be repeated. What is not due changes nothing. */
export const kycSteps = {
  submit: step('kyc.submit', { ...outside, summary: 'Hand a person to the provider' }),
  inquire: step('kyc.inquire', { ...outside, summary: 'Ask the provider about a person' }),
  redact: step('kyc.redact', {
    summary: 'Have the provider erase what it has collected',
    calls: 'identityVerification',
    emits: { 'kyc.redacted': kycEvents['kyc.redacted'] },
  }),
  eraseDocument: step('kyc.eraseDocument', {
    summary: 'Erase a document',
    emits: { 'kyc.document_erased': documentEvents['kyc.document_erased'] },
  }),
}
