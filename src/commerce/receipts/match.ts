import type { FilterQuery } from '@mikro-orm/core'
import { updateIntentReceiptState } from '../../control/intents/index.ts'
import { merchantNameOfDescriptor, normalizeMerchant } from '../../control/merchants/index.ts'
import type { Actor, TenantNow } from '../../kernel/contract/actor.ts'
import { inRange, sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { idRangeCondition } from '../../kernel/database/created-within.ts'
import { delegationCondition, Transaction } from '../../money/transactions/index.ts'
import { addMs } from '../../values/clock.ts'
import { cents } from '../../values/money.ts'
import { extractReceiptFacts, type ReceiptFacts } from './read-text.ts'
import type { Receipt, ReceiptMatchSuggestion, ReceiptStatus, receiptMatchSources } from './receipt.ts'
import {
  chooseReceiptMatch,
  RECEIPT_DATE_TOLERANCE_MS,
  type ReceiptCandidate,
  type ReceiptMatchReason,
  receiptTotalDiffers,
} from './score.ts'

/** The uploader. A receipt is matched only with payments that its uploader can see. */
type Uploader = Pick<Actor, 'agentId' | 'delegationId'>

interface MatchContext extends SqlContext, TenantNow {
  readonly em: EntityReader
  readonly actor: Uploader
  readonly service: RunningService
}

/** A delegation's token reaches only payments under that delegation. */
const reachable = async (context: MatchContext): Promise<FilterQuery<Transaction>> =>
  ({
    ...(await delegationCondition(context)),
    ...(context.actor.agentId === null ? {} : { agentId: context.actor.agentId }),
  }) as FilterQuery<Transaction>

export const findReceiptPayment = async (id: string, context: MatchContext) =>
  context.em.findOne(Transaction, { id, ...(await reachable(context)) })

const PAID: FilterQuery<Transaction> = {
  type: { $in: ['card', 'mpp', 'transfer'] },
  status: { $in: ['authorization', 'settlement', 'settled', 'completed', 'refunded'] },
}

const MAX_COMPARED = 100

const WITH_RECEIPT = `
select distinct transaction_id as id from receipts
where owner_id = $1 and mode = $2 and transaction_id = any($3::text[])`

async function paymentsAround(facts: ReceiptFacts, context: MatchContext): Promise<ReceiptCandidate[]> {
  const { em, sql, tenant, now } = context
  const around = facts.date === null ? now : new Date(facts.date)
  const [from, to] = [addMs(around, -RECEIPT_DATE_TOLERANCE_MS), addMs(around, RECEIPT_DATE_TOLERANCE_MS)]
  const within = { ...PAID, ...(await reachable(context)), createdAt: inRange({ gte: from, lt: to }) }
  const newest = { orderBy: { id: 'desc' }, limit: MAX_COMPARED } as const
  const amountCents = cents(facts.total?.replace('.', '') ?? 0)
  const found = await Promise.all([
    em.find(Transaction, { ...within, amountCents }, newest),
    em.find(Transaction, within, newest),
  ])
  const payments = [...new Map(found.flat().map(payment => [payment.id, payment])).values()]
  const ids = payments.map(({ id }) => id)
  const [rows, merchantKey] = await Promise.all([
    sql<{ id: string }>(WITH_RECEIPT, [tenant.ownerId, tenant.mode, ids]),
    merchantOf(facts.vatNumber, context),
  ])
  const having = new Set(rows.map(({ id }) => id))
  return payments.map(({ id, amountCents, original, merchant, createdAt }) => ({
    transactionId: id,
    amountCents,
    original,
    merchant,
    at: createdAt,
    hasReceipt: having.has(id),
    hasVatNumber: keyOf(merchant) === merchantKey,
  }))
}

/** Merchants whose payments had receipts with this VAT number and with the paid total. The newest receipts count. */
const OF_VAT_NUMBER = `
select distinct t.merchant from (
  select r.transaction_id from receipts r
  where r.owner_id = $1 and r.mode = $2 and r.facts ->> 'vatNumber' = $3 and r.status = 'matched'
    and r.facts ->> 'total' is not null
  order by r.id desc limit 50) known
join lateral (
  select one.merchant from transactions one
  where (one.owner_id, one.mode, one.id) = ($1, $2, known.transaction_id) limit 1) t on true`

const keyOf = (merchant: string): string => normalizeMerchant(merchantNameOfDescriptor(merchant))

/**
 * The merchant of this VAT number in earlier receipts. A number on receipts of several merchants belongs to
 * the buyer.
 */
async function merchantOf(
  vatNumber: string | null,
  { sql, tenant }: SqlContext,
): Promise<string | undefined> {
  if (vatNumber === null) return undefined
  const values = [tenant.ownerId, tenant.mode, vatNumber]
  const known = await sql<{ merchant: string }>(OF_VAT_NUMBER, values)
  const keys = new Set(known.map(({ merchant }) => keyOf(merchant)))
  return keys.size === 1 ? [...keys][0] : undefined
}

export const lacksReceiptCondition = async (
  { agentId, from, to }: { agentId: string | undefined; from: Date | undefined; to: Date | undefined },
  context: ReadContext,
): Promise<FilterQuery<Transaction>> =>
  ({
    type: { $in: ['card', 'mpp', 'transfer'] },
    status: 'completed',
    ...(agentId === undefined ? {} : { agentId }),
    ...(from || to ? { id: idRangeCondition('txn', { from, to }) } : {}),
    $and: [
      await reachable(context),
      sqlCondition(
        // A subquery per payment uses the index; a join would read and sort all receipts.
        '(select r.id from receipts r where (r.owner_id, r.mode, r.transaction_id) = (transactions.owner_id, transactions.mode, transactions.id) limit 1) is null',
      ) as FilterQuery<Transaction>,
    ],
  }) as FilterQuery<Transaction>

interface MatchResult {
  readonly facts: ReceiptFacts | null
  readonly payment: Transaction | null
  readonly by: (typeof receiptMatchSources)[number] | null
  readonly score: number | null
  readonly reasons: ReceiptMatchReason[]
  readonly suggestions: ReceiptMatchSuggestion[]
}

export const noReceiptMatch: Omit<MatchResult, 'facts'> = {
  payment: null,
  by: null,
  score: null,
  reasons: [],
  suggestions: [],
}

/** Reads the text and looks for the payment. A photograph has no text, so a person must name its payment. */
export async function matchReceiptText(text: string | null, context: MatchContext): Promise<MatchResult> {
  return text === null
    ? { facts: null, ...noReceiptMatch }
    : matchReceiptFacts(text, extractReceiptFacts(text), context)
}

export async function matchReceiptFacts(
  text: string,
  facts: ReceiptFacts,
  context: MatchContext,
): Promise<MatchResult> {
  const payments = await paymentsAround(facts, context)
  const { match: best, suggestions } = chooseReceiptMatch(text, facts, payments, context.now)
  if (!best) return { facts, ...noReceiptMatch, suggestions }
  const payment = await findReceiptPayment(best.transactionId, context)
  return { facts, payment, by: 'text', score: best.score, reasons: [...best.reasons], suggestions: [] }
}

export function receiptMatchMembers({ facts, payment, by, score, reasons, suggestions }: MatchResult) {
  return {
    transactionId: payment?.id ?? null,
    intentId: payment?.intentId ?? null,
    status: statusOf({ facts, payment, suggestions }),
    matchedBy: by,
    score,
    reasons,
    suggestions,
  }
}

function statusOf({
  facts,
  payment,
  suggestions,
}: Pick<MatchResult, 'facts' | 'payment' | 'suggestions'>): ReceiptStatus {
  if (payment) return receiptTotalDiffers(facts, payment) ? 'mismatch' : 'matched'
  if (suggestions.length > 0) return 'suggested'
  return facts ? 'unmatched' : 'unread'
}

const OF_INTENT = `
select case when bool_or(status = 'mismatch') then 'mismatch' when count(*) > 0 then 'matched' end as status
from receipts where owner_id = $1 and mode = $2 and intent_id = $3`

export async function updateIntentReceiptStates(
  intentIds: readonly (string | null)[],
  { em, sql, tenant }: WriteContext,
): Promise<void> {
  await em.flush()
  for (const intentId of [...new Set(intentIds)].sort()) {
    if (intentId === null) continue
    const read = async () => {
      const rows = await sql<{ status: 'matched' | 'mismatch' | null }>(OF_INTENT, [
        tenant.ownerId,
        tenant.mode,
        intentId,
      ])
      return rows[0]?.status ?? null
    }
    await updateIntentReceiptState(intentId, read, { sql, tenant })
  }
}

export const receiptEvent = ({
  id,
  agentId,
  transactionId,
  intentId,
  status,
  sha256,
  receivedAt,
}: Receipt) => ({ receiptId: id, agentId, transactionId, intentId, status, sha256, receivedAt })
