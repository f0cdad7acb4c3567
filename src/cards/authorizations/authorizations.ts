import { StoredDecision } from '../../control/decisions/index.ts'
import { merchantNameOfDescriptor, payableBy } from '../../control/merchants/index.ts'
import { type PaymentFacts, paymentState } from '../../control/payments/index.ts'
import { explainChecks, type RuleCheck } from '../../control/rules/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { EntityReader } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { FindIntentPayments, IntentPaymentState } from '../../kernel/contract/payables.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import { deadlineInRows, statusCondition } from '../../kernel/database/deadline-rows.ts'
import { definedOnly, merchantCondition, withMembers } from '../../kernel/database/entity.ts'
import { type Cents, formatMoney, remainderOf } from '../../values/money.ts'
import { formatOriginal } from '../../values/original-amount.ts'
import { Card } from '../cards/index.ts'
import { authorizationsApi } from './api.ts'
import { expireAuthorization } from './apply-facts.ts'
import {
  type AuthorizationStatus,
  authorizationMachine,
  authorizationsPersonalAdditions,
  CardAuthorization,
  CardMessage,
} from './authorization.ts'
import { paymentsOfTokenCards } from './authorization-rows.ts'
import { decideAuthorization } from './authorize.ts'
import { readCardDecisionState } from './batch.ts'
import { authorizationRequest, initialAuthorizationRequest } from './incoming-message.ts'
import { cardPostingNarratives } from './narratives.ts'
import { processCardNotice, processMessages } from './network/process-messages.ts'
import { receiveProcessorWebhook } from './network/processor-webhook.ts'

interface AuthorizationParams {
  readonly id: string
  readonly authorizationId: string
}

/**
 * `POST /simulate/card/authorize` returns the network's id, so both ids are accepted. The service's id takes
 * precedence, and is unique.
 */
async function find({ id: cardId, authorizationId: id }: AuthorizationParams, em: EntityReader) {
  const [ours, theirs] = await Promise.all([
    em.findOne(CardAuthorization, { id, cardId }),
    em.findOne(CardAuthorization, { processorRef: id, cardId }),
  ])
  return ours ?? theirs
}

const ENDED: readonly AuthorizationStatus[] = ['declined', 'reversed', 'expired', 'void', 'refunded']

const byStatus = (status: AuthorizationStatus | undefined) =>
  statusCondition(status, { exceptional: ENDED, open: [], isOpen: {} })

const withOriginal = (row: CardAuthorization) =>
  withMembers(row, { original: paymentState(row.facts).original })

const authorizations = bindHandlers(authorizationsApi, {
  take: processMessages,
  notice: processCardNotice,
  expire: expireAuthorization,
  receive: () => ({}),

  async list({ params, query: { limit: _limit, cursor: _cursor, ...query } }, context) {
    const { from, to, merchant, status, ...filters } = query
    const card = await context.em.findOne(Card, { id: params.id })
    if (!card) return context.refuse('card_not_found')
    const created = await createdWithinCondition('cardauth', { from, to }, context)
    const page = await context.page(CardAuthorization, {
      cardId: card.id,
      ...definedOnly({ ...filters, ...created }),
      ...merchantCondition(merchant),
      ...byStatus(status),
    })
    return { ...page, data: page.data.map(withOriginal) }
  },

  async get({ params }, { em, refuse }) {
    const row = await find(params, em)
    return row ? withOriginal(row) : refuse('authorization_not_found')
  },

  async explanation({ params }, { em, refuse }) {
    const row = await find(params, em)
    if (!row) return refuse('authorization_not_found')
    const { decision, source, intentId, createdAt } = row
    const checks = [...(decision?.checks ?? []), ...(await conversionOf(row, em))]
    return {
      authorizationId: row.id,
      decisionId: decision?.id ?? null,
      decidedAt: createdAt,
      summary: summaryOf(row),
      intentId,
      paidFrom: sourceTexts[source],
      rules: decision ? explainDecision(checks) : [],
      remedies: decision && !decision.allowed ? remediesOf(checks) : [],
    }
  },

  async simulate({ params, body }, { em, sql, tenant, now, refuse }) {
    const card = await em.findOne(Card, { id: params.id })
    if (!card) return refuse('card_not_found')
    const { id: cardId, agentId } = card
    const { merchant: descriptor, amountCents, url, mcc, city, country, partialAllowed } = body
    const merchant = { descriptor, url, mcc, city, country, networkTokenId: null }
    const search = { agentId, cardId, ...payableBy(merchant), amountCents }
    const numberId = card.numberId ?? ''
    const state = await readCardDecisionState(
      sql,
      { tenant, now },
      {
        agentIds: [agentId],
        cardIds: [cardId],
        numberIds: [numberId],
        searches: [search],
        spends: [{ agentId, merchant: merchantNameOfDescriptor(descriptor) }],
        movesMoney: false,
      },
    )
    const agent = state.agents.get(agentId)
    if (!agent) return refuse('card_not_found')
    const content = initialAuthorizationRequest({ amountCents, partialAllowed, merchant })
    const who = { agentId, cardId, numberId }
    const request = { content, existing: undefined, search, ...who, isLate: false }
    const { decision, approvedCents, source, intent, walletId } = decideAuthorization(
      authorizationRequest(request),
      agent,
      state,
      '',
    )
    return {
      approved: decision.allowed,
      approvedCents,
      reason: decision.reason,
      source,
      intentId: intent?.id ?? null,
      walletId,
      decision: { ...decision, id: null },
      remedies: decision.allowed ? [] : remediesOf(decision.checks),
    }
  },
})

const CARD_REMEDY = 'Follow the message, or pay with another card.'

function explainDecision(checks: readonly RuleCheck[]) {
  const ofCard = checks
    .filter(({ rule }) => rule === 'card')
    .map(({ rule, outcome, message }) => ({ rule, outcome, message, remedy: CARD_REMEDY }))
  // A card cannot wait for a person, so a check that needs approval is also an obstacle.
  return [...ofCard, ...explainChecks(checks, true)]
}

const remediesOf = (checks: readonly RuleCheck[]): string[] => [
  ...new Set(explainDecision(checks).flatMap(({ remedy }) => remedy ?? [])),
]

const sourceTexts = {
  intent: 'The hold of the intent pays.',
  purse: 'The purse of the card pays.',
  wallet: 'The wallet of the agent pays.',
} as const

const summaries: Readonly<Record<AuthorizationStatus, (row: CardAuthorization) => string>> = {
  pending: ({ amountCents }) =>
    `A machine payment of ${formatMoney(amountCents)} is under way; its outcome is unknown.`,
  declined: ({ declineReason }) =>
    `The payment was declined: ${declineReason ?? 'the processor declined it.'}`,
  authorized: ({ approvedCents, amountCents, heldCents, clearedCents }) =>
    [
      amountCents === 0n
        ? 'The card was checked. Nothing is held.'
        : `${formatMoney(approvedCents)} of ${formatMoney(amountCents)} was approved, and ${formatMoney(heldCents)} is held.`,
      ...(clearedCents > 0n ? [`${formatMoney(clearedCents)} has been cleared.`] : []),
    ].join(' '),
  confirmed: ({ capturedCents }) =>
    `The agent confirmed a payment of ${formatMoney(capturedCents)}; the network has not reported it yet.`,
  cleared: ({ clearedCents, refundedCents }) =>
    `${formatMoney(clearedCents)} has been cleared${refundedCents > 0n ? `, ${formatMoney(refundedCents)} of them came back` : ''}.`,
  reversed: () => 'The merchant reversed the payment. Nothing is held.',
  expired: () => 'The merchant did not clear the payment in time. Nothing is held.',
  void: () => 'The machine payment was not paid. The intent can be paid again.',
  refunded: ({ refundedCents }) => `${formatMoney(refundedCents)} refunded.`,
}

/** How the price of a machine payment was converted as it began. The network’s later request is in euros. */
async function conversionOf({ id, mppCredentialId }: CardAuthorization, em: EntityReader) {
  if (mppCredentialId === null) return []
  const where = { subjectType: 'card_authorization', subjectId: id }
  const [first] = await em.find(StoredDecision, where, { orderBy: { id: 'asc' }, limit: 1 })
  return first?.result.checks.filter(({ rule }) => rule === 'conversionMarginPercent') ?? []
}

function summaryOf(row: CardAuthorization): string {
  const status: AuthorizationStatus = row.status
  const price = priceSentence(row)
  return price === null ? summaries[status](row) : `${summaries[status](row)} ${price}`
}

/** Null for a price in euros. */
function priceSentence({ facts }: CardAuthorization): string | null {
  const { original, initiatedCents, approvedCents, clearedCents } = paymentState(facts)
  if (original === null) return null
  const heldCents = initiatedCents || approvedCents
  const price = `The merchant’s price is ${formatOriginal(original)}`
  if (heldCents === 0n) return `${price}.`
  if (clearedCents === 0n) return `${price}, for which ${formatMoney(heldCents)} was held.`
  const [less, more] = [remainderOf(heldCents, clearedCents), remainderOf(clearedCents, heldCents)]
  const difference = more > 0n ? `${formatMoney(more)} more` : `${formatMoney(less)} less`
  return `${price}: ${formatMoney(heldCents)} was held, and the network charged ${formatMoney(clearedCents)}, ${difference}.`
}

const stateByStatus: Readonly<Record<AuthorizationStatus, IntentPaymentState>> = {
  pending: 'submitted',
  declined: 'rejected',
  authorized: 'submitted',
  confirmed: 'completed',
  cleared: 'completed',
  reversed: 'cancelled',
  expired: 'cancelled',
  void: 'cancelled',
  refunded: 'returned',
}

type PaymentRow = Row &
  Pick<CardAuthorization, 'id' | 'declineReason' | 'updatedAt'> & {
    readonly intentId: string
    readonly status: AuthorizationStatus
    readonly amountCents: Cents
    readonly facts: PaymentFacts
  }

const MAX_PAYMENTS = 20

const FIND = `
select a.* from unnest($3::text[]) as w (id)
cross join lateral (
  select id, intent_id as "intentId", status, decline_reason as "declineReason", updated_at as "updatedAt", facts,
    coalesce(nullif(cleared_cents, 0), nullif(captured_cents, 0), amount_cents) as "amountCents"
  from card_authorizations where (owner_id, mode, intent_id) = ($1, $2, w.id) and amount_cents > 0
    and mpp_credential_id is null order by id desc limit ${MAX_PAYMENTS}
) a
order by a.id desc`

const paymentsOnIntents: FindIntentPayments = async (intentIds, { ownerId, mode }, sql) => {
  const rows = await sql<PaymentRow>(FIND, [ownerId, mode, intentIds])
  return rows.map(({ id, intentId, status, amountCents, facts, declineReason, updatedAt }) => ({
    intentId,
    type: 'card' as const,
    id,
    status: stateByStatus[status],
    amountCents,
    original: paymentState(facts).original,
    reason: declineReason === null ? null : { code: 'declined', message: declineReason },
    updatedAt,
  }))
}

export const authorizationsArea = area(
  'Card Authorizations',
  'Payments by card: requested by the network, decided, cleared, refunded.',
  authorizations,
  {
    personalAdditions: authorizationsPersonalAdditions,
    entities: [CardAuthorization, CardMessage],
    machines: [authorizationMachine],
    receives: { receive: receiveProcessorWebhook },
    findPayments: paymentsOnIntents,
    answers: [cardPostingNarratives, paymentsOfTokenCards],
    deadlines: [
      {
        process: { name: 'card-authorization' },
        ...deadlineInRows('card_authorizations', { isFollowed: false }),
        operations: ['authorizations.expire'],
      },
    ],
  },
)
