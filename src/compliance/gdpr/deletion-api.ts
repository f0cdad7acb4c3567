import { z } from 'zod'
import { customerChangeEvents } from '../../identity/customers/index.ts'
import { assertionEvents, assertionRefusals, webauthnAssertionSchema } from '../../identity/passkeys/index.ts'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { walletClosedEvent } from '../../money/wallets/index.ts'
import { instant } from '../../values/clock.ts'
import { keysOf } from '../../values/collections.ts'
import { id } from '../../values/ids.ts'
import { legalGrounds } from '../../values/personal.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { merchantSubjectRequired } from './data-export.ts'
import { dataDeletionMachine } from './deletion.ts'
import { DataSubjectRecord, dataSubjectSchema, subjectNotFound } from './export-api.ts'
import { deletionBlockerTypes } from './obstacles.ts'

const readers = operationsFor({ callers: ['key', 'dash'], scope: 'gdpr:read' })
const writers = operationsFor({ callers: ['key', 'dash'], scope: 'gdpr:write' })

const status = z.enum(dataDeletionMachine.states).meta({
  description:
    '`requested` for seven days, in which it can be cancelled; `waiting` while something must end first; then `ending` and `forgetting` until it is `completed`.',
})

const ObstacleRecord = z.object({
  type: z.enum(keysOf(deletionBlockerTypes)),
  id: z.string(),
  howItEnds: z.string().meta({ description: 'What must end, and what to do.' }),
})

const KeptRecord = z.object({
  ground: z.enum(keysOf(legalGrounds)),
  law: z.string().meta({ description: 'The law that requires retention.' }),
  records: z.int(),
  areas: z.array(z.string()).meta({ description: 'The areas of the records.' }),
  until: instant.meta({ description: 'The time at which they are removed automatically.' }),
})

const openOrCompleted = status.exclude(['cancelled'])

const DeletionRecord = z
  .object({
    ...recordHead('gdprdeletion'),
    status,
    subject: DataSubjectRecord,
    beginsAt: instant.meta({
      description: 'The time until which nothing is erased, and the request can be cancelled.',
    }),
    answerBy: instant.meta({ description: 'Legal deadline for the answer: one month.' }),
    waitsFor: z.array(ObstacleRecord).meta({
      description:
        'What must end first. The deletion then continues within an hour, in test mode within a day.',
    }),
    records: z.int().meta({ description: 'The number of records with erased data.' }),
    kept: z
      .array(KeptRecord)
      .meta({ description: 'Records that the law requires to be kept, and until when.' }),
    completedAt: instant.nullable(),
    cancelledAt: instant.nullable(),
    workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'GdprDeletion' })

/** Ids only, because events leave the service. */
const DeletionEvent = z.object({
  deletionId: id('gdprdeletion'),
  subject: DataSubjectRecord,
  status,
})

export const deletionEvents = {
  'gdpr.deletion_requested': declareEvent('An erasure was requested.', DeletionEvent),
  'gdpr.deletion_cancelled': declareEvent('A request for erasure was withdrawn.', DeletionEvent),
  'gdpr.deletion_completed': declareEvent(
    'A person’s data was erased, except for what the law requires to be kept.',
    DeletionEvent,
  ),
}

const deletion_not_found = notFound('deletion')

export const dataDeletionApi = {
  createDeletion: writers.post('/gdpr/deletions', {
    summary: 'Request erasure',
    description:
      'Requests the erasure of the account, or of a person, a beneficiary or a payer of yours, who have the same right; the operator requests it for the contact of a merchant. It can be cancelled for seven days.\n\nIt then waits for what must end first, and lists that: for the account itself, money in a wallet or an open dispute. Names, addresses and free text are removed from all records, files and the audit trail, which still verifies; what the law keeps stays, and the answer lists it with its ground and its end. The account itself is permanently suspended. A person who has a passkey signs with it: `POST /passkeys/challenge` with the purpose `deletion` and the subject.',
    signature: { challenge: '/passkeys/challenge', asks: { purpose: 'deletion', subject: '$subject' } },
    body: z.strictObject({
      subject: dataSubjectSchema.optional(),
      webauthnAssertion: webauthnAssertionSchema.optional(),
    }),
    example: {},
    returns: [201, DeletionRecord],
    fails: {
      ...assertionRefusals,
      subject_not_found: subjectNotFound,
      merchant_needed: merchantSubjectRequired,
      live_key_needed: [403, 'The account has live money. Use a live key: a test key cannot delete it.'],
      deletion_open: [400, 'The subject already has an open deletion. See GET /gdpr/deletions.'],
    },
    emits: {
      ...assertionEvents,
      'gdpr.deletion_requested': deletionEvents['gdpr.deletion_requested'],
    },
  }),
  listDeletions: readers.list('/gdpr/deletions', {
    summary: 'List deletions',
    filters: { status: status.optional() },
    item: DeletionRecord,
  }),
  getDeletion: readers.get('/gdpr/deletions/{id}', {
    summary: 'Get a deletion',
    description:
      'The keys of an erased owner no longer work: the operator reads the answer and passes it on.',
    returns: [200, DeletionRecord],
    fails: { deletion_not_found },
  }),
  cancelDeletion: writers.post('/gdpr/deletions/{id}/cancel', {
    summary: 'Withdraw a request for erasure',
    description: 'Possible until data is erased: in the first seven days, and while it waits.',
    returns: [200, DeletionRecord],
    fails: {
      deletion_not_found,
      deletion_begun: [400, 'The erasure has started or is completed, and cannot be undone.'],
    },
    emits: { 'gdpr.deletion_cancelled': deletionEvents['gdpr.deletion_cancelled'] },
  }),
}

export const dataDeletionSteps = {
  /** Does nothing before the tenant's clock reaches the due time. */
  advance: step('gdpr.advanceDeletion', {
    summary: 'Take the next step of a deletion',
    emits: {
      'gdpr.deletion_completed': deletionEvents['gdpr.deletion_completed'],
      'customer.updated': customerChangeEvents['customer.updated'],
      ...walletClosedEvent,
    },
  }),
}

/** Ids and times only, as operators keep this record after the data is gone. */
const ErasureRecord = z
  .object({
    id: id('gdprdeletion').meta({ description: 'The deletion.' }),
    ownerId: id('customer'),
    mode: z.enum(['test', 'live']),
    status: openOrCompleted,
    subject: DataSubjectRecord,
    beginsAt: instant,
    completedAt: instant
      .nullable()
      .meta({ description: 'Time of the first completion, even if the deletion is carried out again.' }),
    waitsFor: DeletionRecord.shape.waitsFor,
  })
  .meta({ id: 'GdprErasure' })

export const erasureApi = {
  listErasures: operator.list('/gdpr/erasures', {
    summary: 'List all deletions of all owners',
    description:
      'Oldest first, by ID, without withdrawn ones. Keep the list beside your backups: a restored backup contains data that was erased after it was made, and `agentpay gdpr reapply` erases it again.',
    filters: { status: openOrCompleted.optional() },
    item: ErasureRecord,
  }),
}
