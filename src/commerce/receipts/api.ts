import { z } from 'zod'
import { internal, operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { attachmentHeaders, attachmentSchema, fileSchema } from '../../kernel/contract/file.ts'
import { doneSchema, emptyBody, notFound } from '../../kernel/contract/operation.ts'
import { uploadSchema } from '../../kernel/contract/upload.ts'
import { fileRefusals } from '../../kernel/database/stored-files.ts'
import { fileViewWarnings } from '../../ports/viewer.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { moneySchema } from '../../values/money.ts'
import { OriginalAmountRecord } from '../../values/original-amount.ts'
import { recordHead, recordTimestamps, timeRangeMembers } from '../../values/schemas.ts'
import { receiptMachine, receiptMatchSources } from './receipt.ts'
import { receiptMatchReasons } from './score.ts'

const status = z.enum(receiptMachine.states)

const score = z
  .int()
  .meta({ description: 'Score out of 100 points: see [receipts](/docs/guides/receipts).', examples: [95] })
const reasons = z.array(z.enum(receiptMatchReasons)).meta({ description: 'The reasons for the points.' })

const sha256 = z.string().meta({ description: 'SHA-256 of the original, in hexadecimal digits.' })

const Facts = z.object({
  total: z
    .string()
    .nullable()
    .meta({ examples: ['25.50'] }),
  currency: z
    .string()
    .nullable()
    .meta({ examples: ['EUR'] }),
  date: z
    .string()
    .nullable()
    .meta({ examples: ['2026-11-20'] }),
  merchant: z
    .string()
    .nullable()
    .meta({ examples: ['Bookshop'] }),
  vatNumber: z
    .string()
    .nullable()
    .meta({ examples: ['DE123456789'] }),
})

const ReceiptRecord = z
  .object({
    ...recordHead('receipt'),
    agentId: id('agent').nullable(),
    delegationId: id('delegation').nullable(),
    transactionId: id('txn').nullable(),
    intentId: id('intent').nullable().meta({ description: 'The intent of the payment.' }),
    status: status.meta({
      description:
        '`mismatch`: the total differs from the paid amount. `unread`: the file has no machine-readable text.',
    }),
    matchedBy: z
      .enum(receiptMatchSources)
      .nullable()
      .meta({ description: 'How the receipt was matched with its payment.' }),
    score: score.nullable(),
    reasons,
    suggestions: z.array(z.object({ transactionId: id('txn'), score, reasons })),
    facts: Facts.nullable().meta({ description: 'Read from the receipt’s text. Null if it has none.' }),
    fileName: z.string().nullable().meta({ description: 'File name given at the upload.' }),
    mediaType: z.string().meta({ examples: ['application/pdf'] }),
    bytes: z.int(),
    sha256,
    pages: z.int().nullable().meta({ description: 'For a PDF.' }),
    notes: z
      .array(z.enum(fileViewWarnings))
      .meta({ description: 'Active content in the file, which is stored but never run or opened.' }),
    isPlain: z.boolean().meta({
      description: 'Whether the file could not be rendered: the thumbnail then only names its kind.',
    }),
    receivedAt: instant.meta({ description: 'The time of receipt, in real time.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Receipt' })

const ReceiptEvent = z.object({
  receiptId: id('receipt'),
  agentId: id('agent').nullable(),
  transactionId: id('txn').nullable(),
  intentId: id('intent').nullable(),
  status,
  sha256,
  receivedAt: instant,
})

const MissingReceipt = z
  .object({
    id: id('txn'),
    agentId: id('agent').nullable(),
    intentId: id('intent').nullable(),
    type: z.string().meta({ examples: ['card'] }),
    amountCents: moneySchema,
    original: OriginalAmountRecord.nullable(),
    merchant: z.string(),
    createdAt: instant,
  })
  .meta({ id: 'MissingReceipt' })

const FileStorage = z
  .object({
    files: z
      .int()
      .min(0)
      .meta({ examples: [12] }),
    usedBytes: z
      .int()
      .min(0)
      .meta({ examples: [1_843_200] }),
    freeBytes: z
      .int()
      .min(0)
      .meta({ examples: [5_366_865_920] }),
    quotaBytes: z
      .int()
      .min(0)
      .meta({ description: 'The storage for all files, in this mode.', examples: [5_368_709_120] }),
  })
  .meta({ id: 'FileStorage' })

const readers = operationsFor({ callers: ['key', 'agent'], scope: 'receipts:read' })
const writers = operationsFor({ callers: ['key', 'agent'], scope: 'receipts:write' })

const receipt_not_found = notFound('receipt')
const transaction_not_found = [404, 'transactionId: no such payment.'] as const
const updated = declareEvent('A receipt has been matched with a transaction, or has changed.', ReceiptEvent)

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

export const receiptsApi = {
  create: writers.post('/receipts', {
    summary: 'Upload the receipt of a payment',
    description: [
      'A PDF or a picture, which is fully decoded: a broken or truncated file, or one larger than 40 million pixels, is refused with a 400. The original is stored unchanged.',
      'Without `transactionId` the text of a PDF is compared with the payments of the 30 days around its date: a clear match is `matched`, otherwise the best candidates are `suggestions`. A total that differs from the paid amount is a `mismatch`, which the intent shows, too. A photograph has no machine-readable text: it stays `unread` until its payment is named.',
      'A receipt without a payment is compared again after ten minutes, an hour, six hours, and daily for 30 days.',
    ].join('\n\n'),
    body: z.strictObject({
      transactionId: id('txn').optional().meta({ description: 'The payment, if known.' }),
      file: uploadSchema({ maxMib: 5, viewed: true }),
    }),
    example: { file: PIXEL },
    returns: [201, ReceiptRecord],
    fails: { transaction_not_found },
    emits: { 'receipt.updated': updated },
  }),
  list: readers.list('/receipts', {
    summary: 'List receipts',
    tool: {
      name: 'list_receipts',
      isCommon: true,
      use: 'Use it to see uploaded receipts and the payments that they belong to.',
    },
    description:
      'Newest first: receipts of a payment with `transactionId`, receipts without a payment with `matched=false`.',
    filters: {
      transactionId: id('txn').optional(),
      intentId: id('intent').optional(),
      agentId: id('agent').optional(),
      status: status.optional(),
      matched: z
        .enum(['true', 'false'])
        .optional()
        .meta({ description: 'Whether the receipt belongs to a payment.' }),
      ...timeRangeMembers,
    },
    item: ReceiptRecord,
  }),
  missing: readers.list('/receipts/missing', {
    summary: 'List payments without a receipt',
    tool: {
      name: 'list_missing_receipts',
      isCommon: true,
      use: 'Use it to see which payments have no receipt yet. Receipts are uploaded by HTTP: POST /receipts.',
    },
    description:
      'Completed payments by card, by machine and by transfer, newest first; those of one agent with `agentId`.',
    filters: { agentId: id('agent').optional(), ...timeRangeMembers },
    item: MissingReceipt,
  }),
  storage: readers.get('/receipts/storage', {
    summary: 'Get the storage usage of files',
    description:
      'Receipts and evidence of the account with their pictures, and identity documents; equal files count once. An upload that exceeds the free storage is refused as `storage_full`.',
    returns: [200, FileStorage],
  }),
  get: readers.getOne('/receipts/{id}', 'a receipt', ReceiptRecord, { receipt_not_found }),
  file: readers.get('/receipts/{id}/file', {
    summary: 'Download the original of a receipt',
    description: 'The original bytes, as an attachment. A file that fails its integrity check is refused.',
    returns: [200, attachmentSchema],
    http: { headers: attachmentHeaders },
    fails: { receipt_not_found, ...fileRefusals },
  }),
  thumbnail: readers.get('/receipts/{id}/thumbnail', {
    summary: 'Get the thumbnail of a receipt',
    description:
      'A re-encoded picture: upright, without metadata, and containing nothing of the original file. For a PDF, the first page; if that cannot be rendered, a sheet with the number of pages.',
    query: z.strictObject({
      size: z
        .enum(['320', '1200'])
        .default('320')
        .meta({ description: 'Maximum width and height in pixels.' }),
    }),
    returns: [200, fileSchema('image/webp')],
    http: { headers: attachmentHeaders },
    fails: { receipt_not_found, ...fileRefusals },
  }),
  update: writers.patch('/receipts/{id}', {
    summary: 'Set the payment of a receipt',
    description: 'Null removes the receipt from its payment.',
    body: z.strictObject({ transactionId: id('txn').nullable() }),
    example: { transactionId: 'txn_01jd8x2m4ye7k9v0c3q5r6t8wz' },
    returns: [200, ReceiptRecord],
    fails: { receipt_not_found, transaction_not_found },
    emits: { 'receipt.updated': updated },
  }),
  delete: writers.del('/receipts/{id}', {
    callers: ['key'],
    summary: 'Delete a receipt',
    description: 'The receipt’s files are erased within the hour. Its SHA-256 stays in the audit trail.',
    returns: [204, emptyBody],
    fails: { receipt_not_found },
    emits: { 'receipt.deleted': declareEvent('A receipt has been deleted.', ReceiptEvent) },
  }),
  /** Changes nothing before its time, or once the receipt has a payment. */
  lookAgain: internal.post('/receipts/{id}/look-again', {
    summary: 'Match a receipt again with later payments',
    returns: [200, doneSchema],
    fails: { receipt_not_found },
    emits: { 'receipt.updated': updated },
  }),
}
