import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { attachment, attachmentHeaders } from '../../kernel/contract/file.ts'
import { get, list, missing, post } from '../../kernel/contract/operation.ts'
import { upload } from '../../kernel/contract/upload.ts'
import { fileRefusals } from '../../kernel/database/stored-files.ts'
import { isCardNumberInId } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { freeText, recordHead, recordTail, timeRange } from '../../values/schemas.ts'
import { evidenceTypes, MAX_PER_INTENT } from './evidence-item.ts'

const type = z.enum(evidenceTypes)

const sha256 = z.string().meta({
  description: 'SHA-256 of the content, in hexadecimal digits.',
  examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
})

const receivedAt = instant.meta({
  description: 'When it came here, in real time: the clock of test mode does not move it.',
})

const EvidenceRecord = z
  .object({
    ...recordHead('evidence'),
    agentId: id('agent'),
    delegationId: id('delegation').nullable(),
    intentId: id('intent'),
    type,
    note: z.string().nullable(),
    text: z.string().nullable().meta({ description: 'Null where the content is a file.' }),
    fileName: z.string().nullable().meta({ description: 'As whoever brought it called it.' }),
    mediaType: z.string().meta({ description: 'What its content is.', examples: ['image/png'] }),
    bytes: z.int(),
    sha256,
    receivedAt,
    ...recordTail,
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

const readers = { callers: ['key', 'agent'], scope: 'evidence:read' } as const
const evidence_not_found = missing('evidence')

const noCard = (text: string): boolean => !isCardNumberInId(text)
const cardFound = 'this looks like the number of a card. Black it out: it must never come here'

export const evidenceApi = {
  create: post('/evidence', {
    summary: 'Keep evidence for an intent',
    tool: {
      name: 'add_evidence',
      isCommon: true,
      use: 'Use it to keep as a text what shows that a payment was right: an order, an answer of the merchant. Files are uploaded by HTTP: POST /evidence.',
    },
    description: [
      'What proves a payment later: the screenshot of an order, an invoice, the text of a confirmation. Give a `file` or a `text`, not both. It is never changed and never deleted: its SHA-256 and the time at which it came are in the audit trail, so nobody can say that it was made up for a dispute. A dispute takes it by its id.',
      'A file is decoded to its end here: what is broken, cut off or larger than 40 million pixels is a 400 that says so.',
      'It is kept whatever became of the intent, and long after it. The same content may be sent again: each time it is a piece of its own.',
    ].join('\n\n'),
    callers: ['key', 'agent'],
    scope: 'evidence:write',
    body: z
      .strictObject({
        intentId: id('intent'),
        type: type.meta({ description: 'What it is.', examples: ['screenshot'] }),
        note: freeText
          .min(1)
          .refine(noCard, cardFound)
          .nullable()
          .default(null)
          .meta({ description: 'What is to be seen on it.', examples: ['The order page after paying'] }),
        text: z
          .string()
          .min(1)
          .max(20_000)
          .refine(noCard, cardFound)
          .optional()
          .meta({ description: 'In place of a file.', examples: ['Order 4711 confirmed'] }),
        file: upload({ maxMib: 5, viewed: true }).optional(),
      })
      .refine(({ text, file }) => (text === undefined) !== (file === undefined), {
        path: ['file'],
        error: 'give it or text, and only one of them',
      }),
    example: {
      intentId: 'intent_01jd8x2m4ye7k9v0c3q5r6t8wz',
      type: 'confirmation',
      text: 'Thank you. Your order 4711 will be shipped on Monday.',
    },
    returns: [201, EvidenceRecord],
    fails: {
      intent_not_found: [404, 'intentId: no such intent.'],
      too_much_evidence: [400, `intentId: the intent has ${MAX_PER_INTENT} pieces of evidence already.`],
    },
    emits: { 'evidence.added': event('Evidence for an intent has come in and is kept.', EvidenceEvent) },
  }),
  list: list('/evidence', {
    ...readers,
    summary: 'List evidence',
    description: 'Newest first; that of one intent with `intentId`.',
    filters: {
      intentId: id('intent').optional(),
      agentId: id('agent').optional(),
      type: type.optional(),
      ...timeRange,
    },
    item: EvidenceRecord,
  }),
  get: get('/evidence/{id}', {
    ...readers,
    summary: 'Get a piece of evidence',
    returns: [200, EvidenceRecord],
    fails: { evidence_not_found },
  }),
  file: get('/evidence/{id}/file', {
    ...readers,
    summary: 'Save the content of a piece of evidence',
    description:
      'Byte for byte as it came, as an attachment. A file that is no longer what came is not given out.',
    returns: [200, attachment],
    http: { headers: attachmentHeaders },
    fails: { evidence_not_found, ...fileRefusals },
  }),
}
