import { noteReceipts } from '../../control/intents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Transaction } from '../../money/transactions/index.ts'
import { findPayment, type MatchContext, paymentsAround } from './payments.ts'
import { type ReceiptFacts, readText } from './read-text.ts'
import type { matchers, Receipt, ReceiptStatus, Suggestion } from './receipt.ts'
import { differs, matchReceipt, type Reason } from './score.ts'

/** What a receipt is matched with, before it is written. */
export interface Found {
  readonly facts: ReceiptFacts | null
  readonly payment: Transaction | null
  readonly by: (typeof matchers)[number] | null
  readonly score: number | null
  readonly reasons: Reason[]
  readonly suggestions: Suggestion[]
}

export const unmatched: Omit<Found, 'facts'> = {
  payment: null,
  by: null,
  score: null,
  reasons: [],
  suggestions: [],
}

/** Reads the text and looks for the payment. A photograph has no text, and no payment but the one that somebody names. */
export async function match(text: string | null, context: MatchContext): Promise<Found> {
  return text === null ? { facts: null, ...unmatched } : matchFacts(text, readText(text), context)
}

/** Looks for the payment of a text that was read before. */
export async function matchFacts(text: string, facts: ReceiptFacts, context: MatchContext): Promise<Found> {
  const payments = await paymentsAround(facts, context)
  const { match: best, suggestions } = matchReceipt(text, facts, payments, context.now)
  if (!best) return { facts, ...unmatched, suggestions }
  const payment = await findPayment(best.transactionId, context)
  return { facts, payment, by: 'text', score: best.score, reasons: [...best.reasons], suggestions: [] }
}

/** The members of a receipt that say which payment it belongs to. */
export function standing({ facts, payment, by, score, reasons, suggestions }: Found) {
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
}: Pick<Found, 'facts' | 'payment' | 'suggestions'>): ReceiptStatus {
  if (payment) return differs(facts, payment.amountEuros) ? 'mismatch' : 'matched'
  if (suggestions.length > 0) return 'suggested'
  return facts ? 'unmatched' : 'unread'
}

const OF_INTENT = `
select case when bool_or(status = 'mismatch') then 'mismatch' when count(*) > 0 then 'matched' end as status
from receipts where owner_id = $1 and mode = $2 and intent_id = $3`

type NotedContext = Pick<Context, 'records' | 'sql' | 'tenant'>

/** Shows on the intents how their receipts stand. */
export async function noteOn(
  intentIds: readonly (string | null)[],
  { records, sql, tenant }: NotedContext,
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

/** The data of a receipt's event. */
export const receiptEvent = ({
  id,
  agentId,
  transactionId,
  intentId,
  status,
  sha256,
  receivedAt,
}: Receipt) => ({ receiptId: id, agentId, transactionId, intentId, status, sha256, receivedAt })
