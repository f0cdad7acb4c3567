import { z } from 'zod'
import { intentUseRefusals } from '../../control/intents/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { attachmentHeaders, attachmentSchema } from '../../kernel/contract/file.ts'
import { notFound } from '../../kernel/contract/operation.ts'
import { uploadSchema } from '../../kernel/contract/upload.ts'
import { fileRefusals } from '../../kernel/database/stored-files.ts'
import { isCardNumberInId } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { freeTextSchema, recordHead, recordTimestamps, timeRangeMembers } from '../../values/schemas.ts'
import { evidenceTypes, MAX_EVIDENCE_PER_INTENT } from './evidence-item.ts'

const type = z.enum(evidenceTypes)

const sha256 = z.string().meta({
  description: 'SHA-256 of the content, in hexadecimal digits.',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
})

const receivedAt = instant.meta({
  description: 'The time of receipt, in real time regardless of the test clock.',
})

const EvidenceRecord = z
  .object({
    ...recordHead('evidence'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent'),
    type,
    note: z.string().nullable(),
    text: z.string().nullable().meta({ description: 'Null if the content is a file.' }),
    fileName: z.string().nullable().meta({ description: 'File name given at the upload.' }),
    mediaType: z.string().meta({ description: 'Content type.', examples: ['image/png'] }),
    bytes: z.int(),
    sha256,
    receivedAt,
    ...recordTimestamps,
  })
  .meta({ id: 'Evidence' })

const EvidenceEvent = z.object({
  evidenceId: id('evidence'),
  agentId: id('agent'),
  intentId: id('intent'),
  type,
  sha256,
  receivedAt,
})

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'evidence:read' })
const evidence_not_found = notFound('evidence')

const noCard = (text: string): boolean => !isCardNumberInId(text)
const cardFound = 'this looks like a card number, which must never be sent here. Black it out'

const writers = operationsFor({ callers: ['key', 'agent'], scope: 'evidence:write' })

export const evidenceApi = {
  create: writers.post('/evidence', {
    summary: 'Store evidence for an intent',
    tool: {
      name: 'add_evidence',
      isCommon: true,
      use: 'Use it to store text evidence that a payment was right: an order, an answer of the merchant. Files are uploaded by HTTP: POST /evidence.',
    },
    description: [
      'Stores proof of a payment: a screenshot of an order, an invoice, the text of a confirmation. Send a `file` or a `text`, not both.\n\nEvidence is never changed or deleted: its SHA-256 and its time of arrival are in the audit trail, which proves that it was not made up for a dispute. Add it to a dispute by its ID.',
      'A file is fully decoded: a broken or truncated file, or one larger than 40 million pixels, is refused with a 400.',
      'Evidence is kept regardless of the intent’s outcome, and long after it. You can send the same content again: each upload is a separate piece of evidence.',
    ].join('\n\n'),
    body: z
      .strictObject({
        intentId: id('intent'),
        type: type.meta({ description: 'What it is.', examples: ['screenshot'] }),
        note: freeTextSchema
          .min(1)
          .refine(noCard, cardFound)
          .nullable()
          .default(null)
          .meta({ description: 'What the evidence shows.', examples: ['The order page after paying'] }),
        text: z
          .string()
          .min(1)
          .max(20_000)
          .refine(noCard, cardFound)
          .optional()
          .meta({ description: 'Text to store instead of a file.', examples: ['Order 4711 confirmed'] }),
        file: uploadSchema({ maxMib: 5, viewed: true }).optional(),
      })
      .refine(({ text, file }) => (text === undefined) !== (file === undefined), {
        path: ['file'],
        error: 'send either file or text',
      }),
    example: {
      intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      type: 'confirmation',
      text: 'Thank you. Your order 4711 will be shipped on Monday.',
    },
    returns: [201, EvidenceRecord],
    fails: {
      intent_not_found: [404, 'intentId: no such intent.'],
      ...intentUseRefusals,
      too_much_evidence: [
        400,
        `intentId: the intent already has ${MAX_EVIDENCE_PER_INTENT} pieces of evidence.`,
      ],
    },
    emits: { 'evidence.added': declareEvent('Evidence for an intent has been stored.', EvidenceEvent) },
  }),
  list: readers.list('/evidence', {
    summary: 'List evidence',
    description: 'Newest first, filtered by `intentId`.',
    filters: {
      intentId: id('intent').optional(),
      agentId: id('agent').optional(),
      type: type.optional(),
      ...timeRangeMembers,
    },
    item: EvidenceRecord,
  }),
  get: readers.getOne('/evidence/{id}', 'a piece of evidence', EvidenceRecord, { evidence_not_found }),
  file: readers.get('/evidence/{id}/file', {
    summary: 'Download a piece of evidence',
    description: 'The original bytes, as an attachment. A file that fails its integrity check is refused.',
    returns: [200, attachmentSchema],
    http: { headers: attachmentHeaders },
    fails: { evidence_not_found, ...fileRefusals },
  }),
}
