import type { BudgetCounters } from '../../control/budgets/index.ts'
import { findIntents, hasPayeeRecord, IntentPayments, type IntentRow } from '../../control/intents/index.ts'
import {
  disputeCreditCents,
  type LimitBatch,
  messageEvidence,
  type PaymentEmitContext,
  PaymentSession,
  paymentState,
} from '../../control/payments/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { CardFact } from '../../ports/card-processor.ts'
import type { Cents } from '../../values/money.ts'
import type { authorizationsApi } from './api.ts'
import {
  type AuthorizationRow,
  addAuthorization,
  type FundingSource,
  fillPlaceholderAuthorization,
  isPlaceholder,
} from './authorization.ts'
import { payersOfAuthorizations, updateAuthorizations } from './authorization-rows.ts'
import { type AuthorizationResult, firstPayableIntent } from './authorize.ts'
import { type CardBatch, loadCardBatch, writeCardBatch } from './batch.ts'
import { cardLimits, cardPayments, type NetworkContext, networkPayments } from './channel.ts'
import { type IncomingMessage, messageProcessorRef, paymentFactFromMessage } from './incoming-message.ts'

const UNKNOWN_MERCHANT = { descriptor: 'unknown merchant', mcc: null, country: null }

/** Facts may arrive in any order and repeatedly, and lead to the same state. */
export function applyCardFact(
  message: IncomingMessage<CardFact>,
  existing: AuthorizationRow | undefined,
  batch: CardBatch,
  context: NetworkContext,
): AuthorizationResult {
  const { id, content, agentId, cardId } = message
  const merchant = 'merchant' in content ? content.merchant : null
  const named = {
    agentId,
    cardId,
    processorRef: messageProcessorRef(content),
    ...(merchant ?? UNKNOWN_MERCHANT),
  }
  const authorization = existing ?? addAuthorization(named, fundingOf(message, batch), batch)
  if (existing && merchant && isPlaceholder(existing))
    fillPlaceholderAuthorization(existing, merchant, fundingOf(message, batch))
  authorization.cardId ??= cardId
  // A machine payment is found by its token, and keeps the network's id of its authorization, which may still
  // arrive. So does a payment of which a credit that names none has come back.
  const isNamedLater = authorization.mppCredentialId !== null || content.kind === 'refund'
  const ref = isNamedLater ? content.authorizationId : named.processorRef
  if (authorization.processorRef === null && ref !== null) takeReference(authorization, ref, batch)
  const evidence = messageEvidence(`card_${content.kind}`, id, authorization.id, id)
  networkPayments(batch, context).apply(authorization, paymentFactFromMessage(message), evidence)
  return { reply: { kind: 'noted' }, authorizationId: authorization.id }
}

/** The network has paid a request that was declined here: all that it reports from now on is about this payment. */
function takeReference(
  authorization: AuthorizationRow,
  ref: string,
  { authorizations, changed }: CardBatch,
): void {
  const declined = [...authorizations].find(({ processorRef }) => processorRef === ref)
  if (declined) {
    declined.processorRef = `declined/${ref}`
    changed.renamed.add(declined)
  }
  authorization.processorRef = ref
}

/** Funding of a payment without a request: an intent that covers it, else the card's purse or the agent's wallet. */
function fundingOf({ agentId, numberId, search }: IncomingMessage, batch: CardBatch): FundingSource {
  const { agents, cards, candidates } = batch
  const walletId = agents.get(agentId)?.walletId ?? ''
  const intent = firstPayableIntent(search && candidates.get(search), batch)
  if (intent) return { intent, source: 'intent', walletId }
  const purse = cards.get(numberId)?.walletId
  return purse ? { intent, source: 'purse', walletId: purse } : { intent, source: 'wallet', walletId }
}

/**
 * Releases amounts that were held and never cleared, or confirmed and never seen by the network. A later
 * clearing is still booked.
 */
export const expireAuthorization: HandlerOf<typeof authorizationsApi.expire> = {
  async load(items, sql) {
    const [first] = items
    if (!first) throw new Error('a batch without authorizations')
    const authorizationIds = items.map(({ input }) => input.params.id)
    // The agent of an authorization never changes, so it can be read first and locked before all else.
    const owners = await payersOfAuthorizations(sql, first.tenant, authorizationIds)
    return loadCardBatch(sql, first, {
      agentIds: owners.map(({ agentId }) => agentId),
      cardIds: owners.flatMap(({ cardId }) => cardId ?? []),
      // A single-use card whose payment ends so is closed.
      numberIds: owners.flatMap(({ numberId }) => numberId ?? []),
      authorizationIds,
      movesMoney: true,
    })
  },
  decide({ input: { params }, now }, batch: CardBatch, context) {
    const authorization = [...batch.authorizations].find(({ id }) => id === params.id)
    if (!authorization?.expiresAt || authorization.expiresAt > now) return { expired: false }
    const isUnconfirmed = authorization.facts.confirmed !== null && authorization.facts.clearings.length === 0
    const type = isUnconfirmed ? 'unconfirmed' : 'expired'
    const evidence = messageEvidence(
      type,
      authorization.id,
      authorization.id,
      `${authorization.id}/expiry/${authorization.expiresAt.getTime()}`,
    )
    networkPayments(batch, context).apply(authorization, { type: 'expired' }, evidence)
    return { expired: true }
  },
  write: (batch: CardBatch, sql) => writeCardBatch(batch, sql),
}

const PAYERS = `
select id, agent_id as "agentId", card_id as "cardId" from intents where owner_id = $1 and mode = $2 and id = any($3::text[])`

type Payer = Row & Pick<IntentRow, 'id' | 'agentId' | 'cardId'>

/** A card that was issued for an intent counts its payment, too. It may have been issued before the agent was locked. */
export async function loadCheckoutConfirmations(
  sql: Sql,
  tenantNow: TenantNow,
  intentIds: readonly string[],
): Promise<CardBatch> {
  const { ownerId, mode } = tenantNow.tenant
  const payers = await sql<Payer>(PAYERS, [ownerId, mode, intentIds])
  const batch = await loadCardBatch(sql, tenantNow, {
    agentIds: [...new Set(payers.map(({ agentId }) => agentId))],
    cardIds: payers.flatMap(({ cardId }) => cardId ?? []),
    intentIds,
    movesMoney: true,
  })
  const hasOtherCard = ({ id, cardId }: Payer): boolean => {
    const locked = batch.payments.find(id)
    return locked !== undefined && locked.cardId !== cardId
  }
  return payers.some(hasOtherCard) ? loadCheckoutConfirmations(sql, tenantNow, intentIds) : batch
}

/** The intent no longer refers to a payment that failed. */
const paymentOf = (intent: IntentRow, { authorizations }: CardBatch): AuthorizationRow | undefined =>
  [...authorizations].find(
    authorization =>
      authorization.intentId === intent.id &&
      (authorization.id === intent.paymentId ||
        (authorization.transactionId !== null && authorization.transactionId === intent.transactionId)),
  )

export function checkoutConfirmationBlocker(intent: IntentRow, batch: CardBatch) {
  if (hasPayeeRecord(intent)) return 'intent_other_payee'
  const payment = paymentOf(intent, batch)
  if (!payment) return batch.payments.blockerOf(intent)
  const { isSelfInitiated, confirmedCents } = paymentState(payment.facts)
  // A machine payment is confirmed by the merchant, the network or the owner, never by the agent's checkout.
  if (isSelfInitiated) return batch.payments.blockerOf(intent)
  return confirmedCents === null ? undefined : 'intent_confirmed'
}

/**
 * Captures what a checkout has confirmed of its intent, and returns the id of the transaction. The network
 * may report the payment before or after: it remains one payment with one transaction.
 */
export function confirmCheckoutPayment(
  intent: IntentRow,
  batch: CardBatch,
  context: PaymentEmitContext,
): string {
  const { agentId, cardId, mcc, country, merchant: descriptor } = intent
  const named = { agentId, cardId, processorRef: null, descriptor, mcc, country }
  const walletId = batch.payments.walletFor(intent) ?? ''
  const authorization =
    paymentOf(intent, batch) ?? addAuthorization(named, { intent, source: 'intent', walletId }, batch)
  const evidence = messageEvidence('checkout', intent.id, authorization.id, `${intent.id}/confirm`)
  const captured = { type: 'captured', cents: intent.amountCents } as const
  cardPayments(batch, context).apply(authorization, captured, evidence)
  return String(authorization.transactionId)
}

/** Adjusts the limits towards which a payment counts by the amounts that disputes leave with its owner. */
export class DisputeLimitAdjustments {
  readonly #authorization: AuthorizationRow
  readonly #batch: LimitBatch & TenantNow
  #isChanged = false

  constructor(authorization: AuthorizationRow, batch: LimitBatch & TenantNow) {
    this.#authorization = authorization
    this.#batch = batch
  }

  /** This amount no longer counts as spent. A second call with less means that the owner keeps less. */
  set(disputeId: string, cents: Cents): void {
    const authorization = this.#authorization
    if (disputeCreditCents(authorization.facts, disputeId) === cents) return
    const limits = new PaymentSession(cardLimits, this.#batch, null)
    limits.credit(authorization, { type: 'credited', id: disputeId, cents })
    authorization.updatedAt = this.#batch.now
    this.#isChanged = true
  }

  async write(sql: Sql): Promise<void> {
    if (!this.#isChanged) return
    const { tenant, counters } = this.#batch
    await Promise.all([counters.write(sql), updateAuthorizations(sql, tenant, [this.#authorization])])
  }
}

/** For the limits towards which a payment counts, whose counters are locked. */
export async function openDisputeLimitAdjustments(
  authorization: AuthorizationRow,
  counters: BudgetCounters,
  { sql, tenant, now }: SqlContext & TenantNow,
): Promise<DisputeLimitAdjustments> {
  const intents = await findIntents(
    sql,
    tenant,
    authorization.intentId === null ? [] : [authorization.intentId],
  )
  const payments = new IntentPayments({ tenant, now }, { counters, intents })
  return new DisputeLimitAdjustments(authorization, { tenant, now, agents: new Map(), counters, payments })
}
