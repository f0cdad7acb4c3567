import { CardAuthorization } from '../../../cards/authorizations/index.ts'
import { findIntent, type Intent, proofOf } from '../../../control/intents/index.ts'
import { findCustomer } from '../../../identity/customers/index.ts'
import type { Context } from '../../../kernel/contract/context.ts'
import { timelineOfRecords } from '../../../kernel/journal/timeline.ts'
import { type Refund, refundsOf } from '../../../money/refunds/index.ts'
import { Transaction } from '../../../money/transactions/index.ts'
import { type Evidence, findEvidence } from '../../evidence/index.ts'
import { type Receipt, receiptsOf } from '../../receipts/index.ts'
import type { Dispute } from '../dispute.ts'

/** The most entries of the timeline that a bundle shows: the oldest ones. */
const MOST_ENTRIES = 1_000

type Reading = Pick<Context, 'records' | 'sql' | 'tenant' | 'ports'>

/** All that is known of a disputed payment. */
export interface Facts {
  readonly holder: string
  readonly dispute: Dispute
  readonly transaction: Transaction
  readonly payment: CardAuthorization | null
  /** What was asked back, and what has come back by itself. */
  readonly refunds: readonly Refund[]
  readonly intent: Intent | null
  readonly proof: string | null
  readonly receipts: readonly Receipt[]
  readonly evidence: readonly Evidence[]
  readonly timeline: Awaited<ReturnType<typeof timelineOfRecords>>
}

export async function collectFacts(dispute: Dispute, context: Reading): Promise<Facts> {
  const { records, sql, tenant } = context
  const { transactionId } = dispute
  const [transaction, payment, refunds, { name: holder }] = await Promise.all([
    records.findOneOrFail(Transaction, { id: transactionId }),
    records.findOne(CardAuthorization, { transactionId }),
    refundsOf(transactionId, records),
    findCustomer(records, tenant.ownerId),
  ])
  const { intentId } = transaction
  const known = [dispute.id, transactionId, intentId, payment?.id].flatMap(id => id ?? [])
  const ids = [...known, ...refunds.map(({ id }) => id)]
  const [intent, proof, receipts, evidence, timeline] = await Promise.all([
    intentId === null ? null : findIntent(records, intentId),
    intentId === null ? null : proofOf(intentId, records),
    receiptsOf([transactionId], context),
    findEvidence(dispute.evidenceIds, context),
    timelineOfRecords(sql, tenant, ids, undefined, MOST_ENTRIES),
  ])
  return { holder, dispute, transaction, payment, refunds, intent, proof, receipts, evidence, timeline }
}
