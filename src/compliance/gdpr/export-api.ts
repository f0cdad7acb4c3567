import { z } from 'zod'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { fileSchema } from '../../kernel/contract/file.ts'
import { get, notFound } from '../../kernel/contract/operation.ts'
import { step } from '../../kernel/contract/step.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { nonOwnerSubjects } from '../../values/personal.ts'
import { recordHead, recordTimestamps } from '../../values/schemas.ts'
import { dataExportMachine, dataSubjectTypes, merchantSubjectRequired } from './data-export.ts'

const readers = operationsFor({ callers: ['key', 'dash'], scope: 'gdpr:read' })
const writers = operationsFor({ callers: ['key', 'dash'], scope: 'gdpr:write' })

export const dataSubjectSchema = z
  .strictObject({
    type: z.enum(nonOwnerSubjects).meta({
      description:
        '`person`: a person who signs in for the account. `beneficiary`: a payee. `payer`: by the ID of the payment request or of the incoming credit. `merchant`: the contact of a merchant, by the ID of its application; the operator requests it, with the dashboard secret.',
    }),
    id: z.string().min(1).max(128),
  })
  .meta({
    description: 'The subject, if it is not the owner of the account.',
    examples: [{ type: 'person', id: 'person_01jd8x2m4ye7k9v0c3q5r6t8wz' }],
  })

export const DataSubjectRecord = z
  .object({ type: z.enum(dataSubjectTypes), id: z.string() })
  .meta({ description: 'The subject: the owner of the account, or another one by ID.' })

const status = z.enum(dataExportMachine.states).meta({
  description:
    '`requested` until the records have been counted, which takes seconds; then the archive is `ready` for seven days.',
})

const DataExportRecord = z
  .object({
    ...recordHead('gdprexport'),
    status,
    subject: DataSubjectRecord,
    records: z.int().nullable().meta({ description: 'Number of records when the archive became ready.' }),
    answerBy: instant.meta({ description: 'Legal deadline for the answer: one month.' }),
    readyAt: instant.nullable(),
    expiresAt: instant
      .nullable()
      .meta({ description: 'The time until which the archive can be downloaded.' }),
    workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'GdprExport' })

/** Ids only, because events leave the service. */
export const DataExportEvent = z.object({
  exportId: id('gdprexport'),
  subject: DataSubjectRecord,
  status,
})

export const dataExportEvents = {
  'gdpr.export_requested': declareEvent('An export of a person’s data was requested.', DataExportEvent),
  'gdpr.export_ready': declareEvent('The archive of a person’s data can be downloaded.', DataExportEvent),
  'gdpr.export_downloaded': declareEvent('The archive of a person’s data was downloaded.', DataExportEvent),
}

const export_not_found = notFound('export')

export const subjectNotFound = [
  404,
  'subject: no such person, beneficiary, payment request, credit or merchant.',
] as const

export const dataExportApi = {
  createExport: writers.post('/gdpr/exports', {
    summary: 'Request an export of your data',
    description:
      'Exports your data, or that of a person, a beneficiary or a payer of yours, who have the same right; the operator requests it for the contact of a merchant. The archive has the records of your key’s mode; request one with a live key, and one with a test key.\n\nWhile a subject’s archive is ready or in preparation, a new request returns that one.',
    body: z.strictObject({ subject: dataSubjectSchema.optional() }),
    example: {},
    returns: [202, DataExportRecord],
    fails: { subject_not_found: subjectNotFound, merchant_needed: merchantSubjectRequired },
    emits: { 'gdpr.export_requested': dataExportEvents['gdpr.export_requested'] },
  }),
  listExports: readers.list('/gdpr/exports', {
    summary: 'List exports',
    filters: { status: status.optional() },
    item: DataExportRecord,
  }),
  getExport: readers.get('/gdpr/exports/{id}', {
    summary: 'Get an export',
    returns: [200, DataExportRecord],
    fails: { export_not_found },
  }),
  archive: get('/gdpr/exports/{id}/archive', {
    limits: { oneAtATime: true },
    callers: ['key', 'console', 'dash'],
    scope: 'gdpr-archives:read',
    readsClock: true,
    summary: 'Download the archive of an export',
    description:
      'A ZIP file: a folder for each area with its records as JSON and a sentence for each field, your files, and `manifest.json` with the SHA-256 of each. It is created while it is sent, so it has the data of that moment. Each download is in the audit trail.',
    returns: [200, fileSchema('application/zip')],
    fails: {
      export_not_found,
      export_not_ready: [400, 'The archive is not ready yet. Try again when the status is ready.'],
      export_expired: [
        400,
        'The archive expired after seven days. Request a new one with POST /gdpr/exports.',
      ],
    },
    emits: { 'gdpr.export_downloaded': dataExportEvents['gdpr.export_downloaded'] },
  }),
}

export const dataExportSteps = {
  /** Does nothing before the tenant's clock reaches the due time. */
  advance: step('gdpr.advanceExport', {
    summary: 'Make an export ready, or expire it',
    emits: { 'gdpr.export_ready': dataExportEvents['gdpr.export_ready'] },
  }),
}
