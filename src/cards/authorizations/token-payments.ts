import { hasPayeeRecord, type IntentPayments, type IntentRow } from '../../control/intents/index.ts'
import { merchantNameOfDescriptor } from '../../control/merchants/index.ts'
import { messageEvidence, type PaymentEmitContext, paymentState } from '../../control/payments/index.ts'
import type { PolicyDecision } from '../../control/policies/index.ts'
import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { EmitContext } from '../../kernel/contract/context.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type Conversion, originalOfConversion } from '../../money/exchange-rates/index.ts'
import { newId } from '../../values/ids.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'
import { Card } from '../cards/index.ts'
import { authorizationEvents } from './api.ts'
import { type AuthorizationRow, addAuthorization } from './authorization.ts'
import { joinMachinePaymentSql } from './authorization-rows.ts'
import { authorizationDecisionEvents, decideAuthorization, recordCardDecision } from './authorize.ts'
import { type CardBatch, type CardDecisionState, loadCardBatch, readCardDecisionState } from './batch.ts'
import { authorizationBlocker } from './card-checks.ts'
import { cardPayments } from './channel.ts'
import {
  authorizationRequest,
  type CardAuthorizationRequest,
  initialAuthorizationRequest,
} from './incoming-message.ts'

/** A payment that the service itself is about to begin, by a token that a merchant gets for it. */
export interface TokenPayment {
  readonly mppCredentialId: string
  /** The network token. Null for a shared payment token, which the card network does not know. */
  readonly tokenId: string | null
  readonly agentId: string
  readonly intentId: string
  readonly cardId: string
  readonly numberId: string
  readonly amountCents: Cents
  /** Null if the merchant asks for euros. */
  readonly conversion: Conversion | null
  /** The host that asks for the money, which the rules treat as the merchant. */
  readonly host: string
  readonly url: string
}

export const tokenPaymentEvents = { ...authorizationEvents, ...authorizationDecisionEvents }

type PayingContext = PaymentEmitContext & EmitContext<typeof tokenPaymentEvents>

type TokenPaymentBlocker =
  | NonNullable<ReturnType<IntentPayments['blockerOf']>>
  | 'intent_not_found'
  | 'intent_not_by_card'
  | 'intent_other_card'
  | 'amount_above_held'
  | 'card_cannot_pay'

/** `message` says more than the code. */
interface BlockedTokenPayment {
  readonly blocker: TokenPaymentBlocker
  readonly message?: string
}

/** The decision is stored in any case; a payment exists only if the decision allows one. */
type DecidedTokenPayment =
  | BlockedTokenPayment
  | { readonly blocker: null; readonly decision: PolicyDecision; readonly authorizationId: string | null }

const STARTED = `
select a.id, a.agent_id as "agentId", a.card_id as "cardId", a.mpp_credential_id as "mppCredentialId" from agent_credentials c ${joinMachinePaymentSql('c')}
where c.owner_id = $1 and c.mode = $2 and c.mpp_credential_id = any($3::text[])`

interface StartedPayment {
  readonly id: string
  readonly agentId: string
  readonly cardId: string
}

/** The payments that these machine payments have begun, which is one for each. */
export const startedTokenPayments = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  mppCredentialIds: readonly string[],
): Promise<readonly (StartedPayment & { readonly mppCredentialId: string })[]> =>
  mppCredentialIds.length === 0
    ? []
    : sql<StartedPayment & Row & { mppCredentialId: string }>(STARTED, [ownerId, mode, mppCredentialIds])

/**
 * Takes all locks for these decisions, and for settling payments of these machine payments, in the global
 * order, before the caller locks records of its own.
 */
export async function loadTokenPayments(
  sql: Sql,
  tenantNow: TenantNow,
  { payments = [], mppCredentialIds = [], started }: LoadedPayments,
): Promise<CardBatch> {
  const settled = started ?? (await startedTokenPayments(sql, tenantNow.tenant, mppCredentialIds))
  return loadCardBatch(sql, tenantNow, {
    agentIds: [...payments, ...settled].map(({ agentId }) => agentId),
    cardIds: [...payments, ...settled].map(({ cardId }) => cardId),
    numberIds: payments.map(({ numberId }) => numberId),
    authorizationIds: settled.map(({ id }) => id),
    intentIds: payments.map(({ intentId }) => intentId),
    spends: payments.map(({ agentId, host }) => ({ agentId, merchant: merchantNameOfDescriptor(host) })),
    movesMoney: settled.length > 0,
  })
}

interface LoadedPayments {
  readonly payments?: readonly TokenPayment[]
  readonly mppCredentialIds?: readonly string[]
  /** Payments to be settled whose ids the caller already knows, so that their locks are sent at once. */
  readonly started?: readonly StartedPayment[]
}

/**
 * Decides a payment as if the network had asked: by the card, the agent's policy, the card's controls and
 * risk, within the hold of the intent. An approval begins the intent's one payment: from then on no other can
 * begin.
 */
export function decideTokenPayment(
  payment: TokenPayment,
  batch: CardBatch,
  context: PayingContext,
): DecidedTokenPayment {
  const { agentId, cardId, intentId, mppCredentialId, tokenId: networkTokenId, amountCents, host } = payment
  const spender = batch.agents.get(agentId)
  const intent = batch.payments.find(intentId)
  if (!spender || intent?.agentId !== spender.id) return { blocker: 'intent_not_found' }
  const blocker = intentBlocker(intent, payment, batch)
  if (blocker) return { blocker }
  const request = requestOf(payment)
  const message = authorizationBlocker(request, intent, batch)
  if (message) return { blocker: 'card_cannot_pay', message }
  const id = newId('cardauth')
  const response = decideAuthorization(request, spender, batch, id)
  const decided = { id, amountCents, merchant: merchantNameOfDescriptor(host), country: null }
  recordCardDecision(response, spender, decided, batch, context)
  const { decision, decisionSummary } = response
  if (!decision.allowed) return { blocker: null, decision, authorizationId: null }
  const named = { agentId, cardId, processorRef: null, descriptor: host, mcc: null, country: null }
  const authorization = addAuthorization(named, response, batch, id)
  Object.assign(authorization, { networkTokenId, mppCredentialId, decision, decisionSummary })
  if (batch.singleUse.has(cardId)) batch.used.set(cardId, id)
  const evidence = messageEvidence('mpp', mppCredentialId, id, `${mppCredentialId}/begun`)
  const { conversion } = payment
  const original = conversion ? originalOfConversion(conversion) : undefined
  const marginPercent = conversion?.marginPercent
  const requested = { type: 'requested', cents: amountCents, original, marginPercent } as const
  cardPayments(batch, context).apply(authorization, requested, evidence)
  return { blocker: null, decision, authorizationId: id }
}

function intentBlocker(
  intent: IntentRow,
  { cardId, amountCents }: TokenPayment,
  { payments }: CardBatch,
): TokenPaymentBlocker | undefined {
  if (hasPayeeRecord(intent)) return 'intent_not_by_card'
  if (intent.cardId !== null && intent.cardId !== cardId) return 'intent_other_card'
  return (
    payments.blockerOf(intent) ??
    (amountCents > (intent.holdCents ?? NO_CENTS) ? 'amount_above_held' : undefined)
  )
}

/** The request as the network would send it. The token is not recorded yet, and is valid only for this payment. */
function requestOf(
  {
    agentId,
    cardId,
    numberId,
    intentId,
    amountCents,
    conversion,
    host,
    url,
  }: Omit<TokenPayment, 'mppCredentialId' | 'tokenId'>,
  existing?: AuthorizationRow,
): CardAuthorizationRequest {
  const merchant = { descriptor: host, mcc: null, city: null, country: null, url, networkTokenId: null }
  const content = initialAuthorizationRequest({ amountCents, partialAllowed: false, merchant })
  const base = { existing, search: undefined, isLate: false }
  return authorizationRequest({ ...base, content, conversion, intentId, agentId, cardId, numberId })
}

interface TokenPaymentObstacle extends Omit<BlockedTokenPayment, 'blocker'> {
  readonly blocker: TokenPaymentBlocker | 'payment_denied'
}

/** A payment that has begun, and has not left for its merchant. */
export interface BegunTokenPayment extends Omit<TokenPayment, 'tokenId' | 'numberId'> {
  readonly authorizationId: string
}

/**
 * Why payments that have begun must not be made any more, by `mppCredentialId`: intent, agent, card, token, policy and risk are
 * judged as if the network had asked now. Changes and locks nothing.
 */
export async function obstaclesToBegun(
  begun: readonly BegunTokenPayment[],
  { sql, em, ...tenantNow }: TenantNow & { readonly sql: Sql; readonly em: EntityReader },
): Promise<ReadonlyMap<string, TokenPaymentObstacle>> {
  const cardIds = begun.map(({ cardId }) => cardId)
  const cards = await em.find(Card, { id: { $in: cardIds } })
  const numbers = new Map(cards.map(({ id, numberId }) => [id, numberId ?? '']))
  const state = await readCardDecisionState(sql, tenantNow, {
    agentIds: begun.map(({ agentId }) => agentId),
    cardIds,
    numberIds: [...numbers.values()],
    authorizationIds: begun.map(({ authorizationId }) => authorizationId),
    intentIds: begun.map(({ intentId }) => intentId),
    spends: begun.map(({ agentId, host }) => ({ agentId, merchant: merchantNameOfDescriptor(host) })),
    movesMoney: false,
  })
  const found = begun.flatMap(payment => {
    const obstacle = obstacleTo(payment, numbers.get(payment.cardId) ?? '', state)
    return obstacle ? [[payment.mppCredentialId, obstacle] as const] : []
  })
  return new Map(found)
}

function obstacleTo(
  payment: BegunTokenPayment,
  numberId: string,
  state: CardDecisionState,
): TokenPaymentObstacle | undefined {
  const { authorizationId, agentId, intentId } = payment
  const existing = [...state.authorizations].find(({ id }) => id === authorizationId)
  const [spender, intent] = [state.agents.get(agentId), state.payments.find(intentId)]
  if (!existing || !spender || !intent) return { blocker: 'intent_not_found' }
  const isOwn = intent.status === 'approved' && intent.paymentId === authorizationId
  if (!isOwn) return { blocker: 'intent_not_approved' }
  if (intent.expiresAt <= state.now) return { blocker: 'intent_expired' }
  const blocker = state.payments.submissionBlockerOf(intent)
  if (blocker) return { blocker }
  const request = requestOf({ ...payment, numberId }, existing)
  const message = authorizationBlocker(request, intent, state)
  if (message) return { blocker: 'card_cannot_pay', message }
  const { decision } = decideAuthorization(request, spender, state, authorizationId)
  return decision.allowed ? undefined : { blocker: 'payment_denied', message: decision.reason }
}

export function tokenPaymentAuthorization(
  mppCredentialId: string,
  { authorizations }: CardBatch,
): AuthorizationRow {
  const authorization = [...authorizations].find(one => one.mppCredentialId === mppCredentialId)
  if (!authorization) throw new Error(`${mppCredentialId} has begun no payment, or was not loaded`)
  return authorization
}

/** True once the network has approved or cleared it, so that the service no longer takes it back. */
export const isApprovedByNetwork = ({ approvedCents, capturedCents }: AuthorizationRow): boolean =>
  approvedCents + capturedCents > 0n

/** A merchant, the network, the owner or a deadline states how a machine payment has ended. */
export function applyTokenPaymentOutcome(
  authorization: AuthorizationRow,
  outcome: 'paid' | 'not_paid',
  batch: CardBatch,
  context: PaymentEmitContext,
): void {
  const { id, mppCredentialId, facts } = authorization
  const evidence = messageEvidence('mpp', String(mppCredentialId), id, `${mppCredentialId}/${outcome}`)
  const captured = { type: 'captured', cents: paymentState(facts).initiatedCents } as const
  const fact = outcome === 'paid' ? captured : ({ type: 'not_paid' } as const)
  cardPayments(batch, context).apply(authorization, fact, evidence)
}
