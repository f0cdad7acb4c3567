import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { type Failure, missing } from '../../kernel/contract/operation.ts'
import { documentKinds, rejectionCodes } from '../../ports/identity-verification.ts'
import { instant } from '../../values/clock.ts'
import { FILE_KINDS } from '../../values/file-kind.ts'
import { id } from '../../values/ids.ts'
import { PostalAddressRecord, recordHead, recordTail } from '../../values/schemas.ts'
import { verifiedEvents } from '../customers/index.ts'
import { deciders, submissionMachine } from './submission.ts'

export const status = z.enum(submissionMachine.states)
export const documentKind = z.enum(documentKinds)

const representativeId = id('representative').nullable().meta({
  description: 'The representative of a company; null for the account holder.',
})

export const DocumentRecord = z
  .object({
    ...recordHead('kycdocument'),
    submissionId: id('kycsubmission').nullable(),
    kind: documentKind,
    type: z.enum(FILE_KINDS).meta({ description: 'What its first bytes say that it is.' }),
    bytes: z.int(),
    sha256: z.string(),
    eraseAt: instant
      .nullable()
      .meta({ description: 'Null while the submission is not decided, and once it is erased.' }),
    erasedAt: instant.nullable(),
    ...recordTail,
  })
  .meta({ id: 'KycDocument' })

export const RejectionRecord = z.object({
  code: z.enum(rejectionCodes),
  reason: z.string(),
  sendInstead: z.string().nullable().meta({ description: 'What would help; null where nothing would.' }),
})

export const SubmissionRecord = z
  .object({
    ...recordHead('kycsubmission'),
    representativeId,
    status,
    provider: z.string().meta({ description: 'Who checks: `KYC_PROVIDER`.', examples: ['sandbox'] }),
    name: z.string(),
    dateOfBirth: z.iso.date(),
    nationality: z.string(),
    address: PostalAddressRecord,
    documents: z.array(
      DocumentRecord.pick({ id: true, kind: true, type: true, bytes: true, eraseAt: true, erasedAt: true }),
    ),
    rejection: RejectionRecord.nullable().meta({ description: 'Null unless it is `rejected`.' }),
    decidedBy: z.enum(deciders).nullable(),
    decidedAt: instant.nullable(),
    contradictedAt: instant.nullable().meta({
      description:
        'When the provider has told the opposite of what stands. The first answer counts: ask the provider.',
    }),
    workflowId: z.string().meta({ description: 'The run to find in the Temporal Web UI.' }),
    ...recordTail,
  })
  .meta({ id: 'KycSubmission' })

/** Ids only: what a person has said goes to no system of others. */
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

export const kycEvents = {
  'kyc.submitted': event('A person has said who they are.', KycEvent),
  'kyc.in_review': event('The documents of a person are being looked at.', KycEvent),
  'kyc.verified': event('A person is who they say.', KycEvent),
  'kyc.rejected': event(
    'A person was not verified. The submission says why, and what to send instead.',
    KycEvent.extend({ code: z.enum(rejectionCodes) }),
  ),
}

export const documentEvents = {
  'kyc.document_uploaded': event('A document of a person has been uploaded.', KycDocumentEvent),
  'kyc.document_read': event('The operator has read a document of a person.', KycDocumentEvent),
  'kyc.document_erased': event('A document of a person was erased, as its time was over.', KycDocumentEvent),
}

/** What the end of a submission may emit. */
export const endingEvents = {
  'kyc.verified': kycEvents['kyc.verified'],
  'kyc.rejected': kycEvents['kyc.rejected'],
  ...verifiedEvents,
}

/** What an answer of the provider may emit. */
export const decisionEvents = { 'kyc.in_review': kycEvents['kyc.in_review'], ...endingEvents }

export const kycFails = {
  submission_not_found: missing('identity submission'),
  document_not_found: missing('document'),
  document_erased: [410, 'The document was erased: its time was over.'],
  submission_decided: [400, 'The submission is decided already. The first decision stands.'],
} as const satisfies Record<string, Failure>
