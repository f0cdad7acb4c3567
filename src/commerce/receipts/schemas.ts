import { z } from 'zod'
import { viewNotes } from '../../ports/viewer.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { euros } from '../../values/money.ts'
import { recordHead, recordTail } from '../../values/schemas.ts'
import { matchers, receiptMachine } from './receipt.ts'
import { matchReasons } from './score.ts'

export const status = z.enum(receiptMachine.states)

const score = z.int().meta({ description: 'Of a hundred points: see docs/receipts.md.', examples: [95] })
const reasons = z.array(z.enum(matchReasons)).meta({ description: 'What the points are for.' })

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

export const ReceiptRecord = z
  .object({
    ...recordHead('receipt'),
    agentId: id('agent').nullable(),
    delegationId: id('delegation').nullable(),
    transactionId: id('txn').nullable(),
    intentId: id('intent').nullable().meta({ description: 'The intent of its payment.' }),
    status: status.meta({
      description:
        '`mismatch`: its total is not what was paid. `unread`: it has no text that can be read here.',
    }),
    matchedBy: z.enum(matchers).nullable().meta({ description: 'Who has said which payment it belongs to.' }),
    score: score.nullable(),
    reasons,
    suggestions: z.array(z.object({ transactionId: id('txn'), score, reasons })),
    facts: Facts.nullable().meta({ description: 'What its text says; null where it has none.' }),
    fileName: z.string().nullable().meta({ description: 'As whoever brought it called it.' }),
    mediaType: z.string().meta({ examples: ['application/pdf'] }),
    bytes: z.int(),
    sha256,
    pages: z.int().nullable().meta({ description: 'Of a PDF.' }),
    notes: z
      .array(z.enum(viewNotes))
      .meta({ description: 'What is in it that is kept, and never run or opened here.' }),
    isPlain: z.boolean().meta({ description: 'It could not be drawn: the thumbnail says only what it is.' }),
    receivedAt: instant.meta({ description: 'When it came here, in real time.' }),
    ...recordTail,
  })
  .meta({ id: 'Receipt' })

export const ReceiptEvent = z.object({
  receiptId: id('receipt'),
  agentId: id('agent').nullable(),
  transactionId: id('txn').nullable(),
  intentId: id('intent').nullable(),
  status,
  sha256,
  receivedAt: instant,
})

export const MissingReceipt = z
  .object({
    id: id('txn'),
    agentId: id('agent').nullable(),
    intentId: id('intent').nullable(),
    type: z.string().meta({ examples: ['card'] }),
    amountEuros: euros,
    merchant: z.string(),
    createdAt: instant,
  })
  .meta({ id: 'MissingReceipt' })

export const FileStorage = z
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
      .meta({ description: 'The room of all files, in this mode.', examples: [5_368_709_120] }),
  })
  .meta({ id: 'FileStorage' })
