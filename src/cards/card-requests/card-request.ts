import { defineEntity, p } from '@mikro-orm/core'
import type { deciderOf } from '../../control/intents/index.ts'
import type { CardControls } from '../../control/rules/index.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { days } from '../../values/clock.ts'
import { cardUsages } from '../cards/index.ts'

export const cardRequestMachine = machine('card-request', {
  pending: ['approved', 'denied', 'cancelled', 'expired'],
  approved: ['issued', 'changed', 'failed'],
  issued: [],
  changed: [],
  denied: [],
  cancelled: [],
  expired: [],
  failed: [],
})

/** SQL condition: the process of the request has something to wait for. */
export const OPEN = "status in ('pending', 'approved')"

export const requestTypes = ['new_card', 'limit_change'] as const

export type AnsweredBy = ReturnType<typeof deciderOf>

/** How long a request waits for an answer. */
export const ANSWER_WITHIN_MS = days(3)

/** The most requests of one agent that wait at a time: a person reads each. */
export const MAX_PENDING = 20

const schema = defineEntity({
  ...tenantTable('CardRequest', 'card_requests', 'agentId', 'delegationId'),
  properties: {
    ...record('cardreq'),
    agentId: p.text(),
    /** The delegation whose token has asked. */
    delegationId: nullable.string(),
    type: p.enum(requestTypes),
    status: p.enum(cardRequestMachine.states).onCreate(() => cardRequestMachine.initial),
    /** The card whose limits are to change; that of a new card as soon as it is asked of the processor. */
    cardId: nullable.string(),
    usage: p
      .enum(cardUsages)
      .$type<(typeof cardUsages)[number] | null>()
      .strictNullable()
      .onCreate(() => null),
    displayName: nullable.string(),
    /** The limits that are asked for: null = this one is not asked for. */
    maxTransactionEuros: nullable.euros('max_transaction_cents'),
    dailyLimitEuros: nullable.euros('daily_limit_cents'),
    monthlyLimitEuros: nullable.euros('monthly_limit_cents'),
    /** The controls of a new card. */
    controls: nullable.json<Omit<CardControls, 'maxTransactionEuros'>>(),
    reason: p.text(),
    /** The limits that were approved, at most those that are asked for; null while nobody has approved. */
    approvedMaxTransactionEuros: nullable.euros('approved_max_transaction_cents'),
    approvedDailyLimitEuros: nullable.euros('approved_daily_limit_cents'),
    approvedMonthlyLimitEuros: nullable.euros('approved_monthly_limit_cents'),
    answeredAt: nullable.instant(),
    answeredBy: nullable.json<AnsweredBy>(),
    comment: nullable.string(),
    /** Why what was approved could not be done. */
    failureReason: nullable.string(),
    expiresAt: timestamp(),
    /** When the process or the sweep has something to do; null while nothing is due. */
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

/** An agent asks for a card, or for other limits of one, and a person answers. */
export class CardRequest extends schema.class {}
schema.setClass(CardRequest)

/** A new card is shown once it is issued: until then the processor may refuse it. */
export const shownCardId = ({ type, status, cardId }: CardRequest): string | null =>
  type === 'new_card' && status !== 'issued' && status !== 'failed' ? null : cardId
