import { hasPayeeRecord, type IntentRow } from '../../control/intents/index.ts'
import { type ApplyContext, evidenceOf } from '../../control/payments/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { applyCardFact } from './apply-fact.ts'
import type { AuthorizationRow } from './authorization-rows.ts'
import { type CardBatch, writeCardBatch } from './batch.ts'
import { blankAuthorization } from './blank-authorization.ts'
import { loadCardBatch } from './load-batch.ts'

const AGENTS = `
select distinct agent_id as "agentId" from intents where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** Locks the agents of intents that checkouts confirm, and reads what is known of their payments. */
export async function loadConfirmations(
  sql: Sql,
  { tenant, now }: TenantNow,
  intentIds: readonly string[],
): Promise<CardBatch> {
  const rows = await sql<Row & { agentId: string }>(AGENTS, [tenant.ownerId, tenant.mode, intentIds])
  return loadCardBatch(
    sql,
    { tenant, now },
    {
      agentIds: rows.map(({ agentId }) => agentId),
      cardIds: [],
      numberIds: [],
      messageIds: [],
      processorRefs: [],
      authorizationIds: [],
      intentIds,
      searches: [],
      tokenIds: [],
      spends: [],
      movesMoney: true,
    },
  )
}

/** The payment by card that an intent has; one that came to nothing is none. */
const paymentOf = (intent: IntentRow, { authorizations }: CardBatch): AuthorizationRow | undefined =>
  [...authorizations].find(
    row =>
      row.intentId === intent.id &&
      (row.id === intent.paymentId ||
        (row.transactionId !== null && row.transactionId === intent.transactionId)),
  )

/** Why a checkout cannot confirm the intent, as the code of a refusal; undefined if it can. */
export function confirmationBlocker(intent: IntentRow, batch: CardBatch) {
  if (hasPayeeRecord(intent)) return 'intent_other_payee'
  const payment = paymentOf(intent, batch)
  // Of a machine payment the merchant, the network or the owner speaks, never the agent's checkout.
  if (payment?.facts.begun !== undefined) return batch.payments.blockerOf(intent)
  if (payment?.facts.confirmed != null) return 'intent_confirmed'
  if (payment) return undefined
  return batch.payments.blockerOf(intent)
}

/**
 * Takes a checkout's word that its intent was paid by card. The network may have spoken of the payment before, or will: it is
 * one payment, with one transaction. Returns the id of that transaction.
 */
export function confirmPayment(intent: IntentRow, batch: CardBatch, context: ApplyContext): string {
  const row = paymentOf(intent, batch) ?? addPayment(intent, batch)
  const evidence = evidenceOf('checkout', intent.id, row.id, `${intent.id}/confirm`)
  applyCardFact(row, { type: 'captured', cents: intent.amountEuros }, evidence, batch, context)
  return String(row.transactionId)
}

function addPayment(intent: IntentRow, batch: CardBatch): AuthorizationRow {
  const { agentId, cardId, mcc, country, merchant } = intent
  const walletId = batch.payments.walletFor(intent) ?? ''
  const row = blankAuthorization(
    { agentId, cardId, processorRef: null, descriptor: merchant, mcc, country },
    { intent, source: 'intent', walletId },
    batch,
  )
  batch.authorizations.add(row)
  batch.changed.newAuthorizations.add(row)
  return row
}

export const writeConfirmations = (batch: CardBatch, sql: Sql): Promise<void> => writeCardBatch(batch, sql)
