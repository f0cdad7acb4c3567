import { noteReceipts } from '../../control/intents/index.ts'
import { foldMerchant, nameOfDescriptor } from '../../control/merchants/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { type Condition, sqlCondition } from '../../kernel/contract/records.ts'
import { idsWithin } from '../../kernel/database/created-within.ts'
import { Transaction, underDelegation } from '../../money/transactions/index.ts'
import { after } from '../../values/clock.ts'
import { cents } from '../../values/money.ts'
import { type ReceiptFacts, readText } from './read-text.ts'
import type { matchers, Receipt, ReceiptStatus, Suggestion } from './receipt.ts'
import { AROUND_MS, matchReceipt, type Payment, type Reason, totalDiffers } from './score.ts'

/** The uploader. A receipt is matched only with payments that its uploader can see. */
type Uploader = Pick<Context['actor'], 'agentId' | 'delegationId'>

type MatchContext = Pick<Context, 'records' | 'sql' | 'tenant' | 'now'> & { readonly actor: Uploader }

/** A delegation's token reaches only payments under that delegation. */
const reachable = ({ actor }: { readonly actor: Uploader }): Condition<Transaction> =>
  ({
    ...underDelegation(actor),
    ...(actor.agentId === null ? {} : { agentId: actor.agentId }),
  }) as Condition<Transaction>

export const findPayment = (id: string, context: Pick<MatchContext, 'records' | 'actor'>) =>
  context.records.findOne(Transaction, { id, ...reachable(context) })

const PAID: Condition<Transaction> = {
  type: { $in: ['card', 'mpp', 'transfer'] },
  status: { $in: ['authorization', 'settlement', 'settled', 'completed', 'refunded'] },
}

const MAX_COMPARED = 100

const WITH_RECEIPT = `
select distinct transaction_id as id from receipts
where owner_id = $1 and mode = $2 and transaction_id = any($3::text[])`

async function paymentsAround(facts: ReceiptFacts, context: MatchContext): Promise<Payment[]> {
  const { records, sql, tenant, now } = context
  const around = facts.date === null ? now : new Date(facts.date)
  const [from, to] = [after(around, -AROUND_MS), after(around, AROUND_MS)]
  const within = { ...PAID, ...reachable(context), createdAt: { $gte: from, $lt: to } }
  const newest = { orderBy: { id: 'desc' }, limit: MAX_COMPARED } as const
  const amountCents = cents(facts.total?.replace('.', '') ?? 0)
  const found = await Promise.all([
    records.find(Transaction, { ...within, amountCents }, newest),
    records.find(Transaction, within, newest),
  ])
  const payments = [...new Map(found.flat().map(payment => [payment.id, payment])).values()]
  const ids = payments.map(({ id }) => id)
  const [rows, merchantKey] = await Promise.all([
    sql<{ id: string }>(WITH_RECEIPT, [tenant.ownerId, tenant.mode, ids]),
    merchantOf(facts.vatNumber, context),
  ])
  const having = new Set(rows.map(({ id }) => id))
  return payments.map(({ id, amountCents, merchant, createdAt }) => ({
    transactionId: id,
    amountCents,
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

const keyOf = (merchant: string): string => foldMerchant(nameOfDescriptor(merchant))

/**
 * The merchant of this VAT number in earlier receipts. A number on receipts of several merchants belongs to
 * the buyer.
 */
async function merchantOf(
  vatNumber: string | null,
  { sql, tenant }: Pick<MatchContext, 'sql' | 'tenant'>,
): Promise<string | undefined> {
  if (vatNumber === null) return undefined
  const values = [tenant.ownerId, tenant.mode, vatNumber]
  const known = await sql<{ merchant: string }>(OF_VAT_NUMBER, values)
  const keys = new Set(known.map(({ merchant }) => keyOf(merchant)))
  return keys.size === 1 ? [...keys][0] : undefined
}

export const withoutReceipt = (
  { agentId, from, to }: { agentId: string | undefined; from: Date | undefined; to: Date | undefined },
  context: Pick<Context, 'actor'>,
): Condition<Transaction> =>
  ({
    type: { $in: ['card', 'mpp', 'transfer'] },
    status: 'completed',
    ...(agentId === undefined ? {} : { agentId }),
    ...(from || to ? { id: idsWithin('txn', { from, to }) } : {}),
    $and: [
      reachable(context),
      sqlCondition(
        // A subquery per payment uses the index; a join would read and sort all receipts.
        '(select r.id from receipts r where (r.owner_id, r.mode, r.transaction_id) = (transactions.owner_id, transactions.mode, transactions.id) limit 1) is null',
      ) as Condition<Transaction>,
    ],
  }) as Condition<Transaction>

interface MatchResult {
  readonly facts: ReceiptFacts | null
  readonly payment: Transaction | null
  readonly by: (typeof matchers)[number] | null
  readonly score: number | null
  readonly reasons: Reason[]
  readonly suggestions: Suggestion[]
}

export const unmatched: Omit<MatchResult, 'facts'> = {
  payment: null,
  by: null,
  score: null,
  reasons: [],
  suggestions: [],
}

/** Reads the text and looks for the payment. A photograph has no text, so a person must name its payment. */
export async function match(text: string | null, context: MatchContext): Promise<MatchResult> {
  return text === null ? { facts: null, ...unmatched } : matchFacts(text, readText(text), context)
}

export async function matchFacts(
  text: string,
  facts: ReceiptFacts,
  context: MatchContext,
): Promise<MatchResult> {
  const payments = await paymentsAround(facts, context)
  const { match: best, suggestions } = matchReceipt(text, facts, payments, context.now)
  if (!best) return { facts, ...unmatched, suggestions }
  const payment = await findPayment(best.transactionId, context)
  return { facts, payment, by: 'text', score: best.score, reasons: [...best.reasons], suggestions: [] }
}

export function matchMembers({ facts, payment, by, score, reasons, suggestions }: MatchResult) {
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
  if (payment) return totalDiffers(facts, payment.amountCents) ? 'mismatch' : 'matched'
  if (suggestions.length > 0) return 'suggested'
  return facts ? 'unmatched' : 'unread'
}

const OF_INTENT = `
select case when bool_or(status = 'mismatch') then 'mismatch' when count(*) > 0 then 'matched' end as status
from receipts where owner_id = $1 and mode = $2 and intent_id = $3`

type UpdateContext = Pick<Context, 'records' | 'sql' | 'tenant'>

export async function updateIntents(
  intentIds: readonly (string | null)[],
  { records, sql, tenant }: UpdateContext,
): Promise<void> {
  await records.flush()
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
    await noteReceipts(intentId, read, { sql, tenant })
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
