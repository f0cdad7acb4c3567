import { defineEntity, p } from '@mikro-orm/core'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  nullable,
  realTimeColumn,
  recordColumns,
  tenantTable,
  textArrayColumn,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { FileViewWarning } from '../../ports/viewer.ts'
import { FILE_KINDS, fileExtensionOf } from '../../values/file-kind.ts'
import type { ReceiptFacts } from './read-text.ts'
import type { ReceiptMatchReason, ScoredCandidate } from './score.ts'

/**
 * `unread` has no text and no payment, `unmatched` fits no payment, `suggested` fits some. `mismatch` belongs
 * to a payment of another amount.
 */
export const receiptMachine = stateMachine('receipt', {
  unread: ['matched'],
  unmatched: ['suggested', 'matched', 'mismatch'],
  suggested: ['unmatched', 'matched', 'mismatch'],
  matched: ['unread', 'unmatched', 'mismatch'],
  mismatch: ['unmatched', 'matched'],
})

export type ReceiptStatus = (typeof receiptMachine.states)[number]

export const receiptMatchSources = ['caller', 'text'] as const

export interface ReceiptMatchSuggestion
  extends Pick<ScoredCandidate, 'transactionId' | 'score' | 'reasons'> {}

const schema = defineEntity({
  ...tenantTable('Receipt', 'receipts', 'agentId', 'delegationId'),
  ...personalTable({
    files: ['sha256', 'small_sha256', 'large_sha256'],
    keptWhile: {
      where: "t.status not in ('unread', 'unmatched', 'suggested') or t.transaction_id is not null",
      words: 'it belongs to a payment',
    },
  }),
  properties: {
    ...recordColumns('receipt'),
    /** The payment's agent, or else the uploader; null if the owner uploaded it and it has no payment. */
    agentId: nullable.string(),
    delegationId: nullable.string(),
    transactionId: nullable.string(),
    intentId: nullable.string(),
    status: p.enum(receiptMachine.states),
    matchedBy: plain(nullable.enum(receiptMatchSources)),
    score: nullable.integer(),
    reasons: plain(textArrayColumn().$type<ReceiptMatchReason[]>()),
    suggestions: personal(
      p.json<ReceiptMatchSuggestion[]>().onCreate((): ReceiptMatchSuggestion[] => []),
      'words',
      'vouchers',
      'empty',
    ),
    facts: personal(nullable.json<ReceiptFacts>(), 'words', 'vouchers', 'null'),
    /** The first lines of its text, for comparison with later payments. */
    head: personal(p.text(), 'words', 'vouchers', 'word'),
    /** The time of the next comparison; null once the receipt has a payment, or if a payment is no longer expected. */
    lookAt: nullable.instant(),
    fileName: personal(nullable.string(), 'words', 'vouchers', 'word'),
    mediaType: plain(p.enum(FILE_KINDS)),
    bytes: p.integer(),
    sha256: personal(p.text(), 'payment', 'vouchers', 'digest'),
    pages: nullable.integer(),
    notes: plain(textArrayColumn().$type<FileViewWarning[]>()),
    isPlain: p.boolean(),
    smallSha256: personal(p.text(), 'payment', 'vouchers', 'digest'),
    largeSha256: personal(p.text(), 'payment', 'vouchers', 'digest'),
    receivedAt: realTimeColumn(),
  },
})

export class Receipt extends schema.class {}
schema.setClass(Receipt)

export const receiptFileName = ({ id, mediaType }: Receipt): string => `${id}.${fileExtensionOf[mediaType]}`

const MAX_LISTED = 100

export const receiptsOfTransactions = (
  transactionIds: readonly string[],
  { em }: ReadContext,
): Promise<Receipt[]> =>
  em.find(
    Receipt,
    { transactionId: { $in: [...new Set(transactionIds)] } },
    { orderBy: { id: 'asc' }, limit: MAX_LISTED },
  )
