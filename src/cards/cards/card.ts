import { defineEntity, p } from '@mikro-orm/core'
import type { cardStatuses } from '../../control/card-terms/index.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import type { NumberState } from '../../ports/card-processor.ts'
import type { Personal } from '../../values/personal.ts'
import { excerpt } from '../../values/schemas.ts'

/** `pending`: the processor has not issued it yet. */
export const cardMachine = machine('card', {
  pending: ['inactive', 'active', 'closed'],
  inactive: ['active', 'closed'],
  active: ['frozen', 'closed'],
  frozen: ['active', 'closed'],
  closed: [],
} satisfies Record<(typeof cardStatuses)[number], readonly (typeof cardStatuses)[number][]>)

/** Why the service itself closes a card; an owner's reason is free text. */
export const closedReasons = [
  'expired',
  'spent',
  'intent_cancelled',
  'intent_denied',
  'intent_expired',
  'policy_expired',
  'agent_deleted',
  'processor_refused',
  'closed_by_processor',
] as const

export const cardUsages = ['single', 'multi'] as const

const card = defineEntity({
  ...tenantTable('Card', 'cards', 'agentId'),
  properties: {
    ...record('card'),
    agentId: p.text(),
    status: p.enum(cardMachine.states).onCreate(() => cardMachine.initial),
    usage: p.enum(cardUsages),
    displayName: p.text(),
    /** The only intent that the card pays; it closes with it. */
    intentId: nullable.string(),
    /** The request of the agent that the card is issued for; null = the owner has made it. */
    requestId: nullable.string(),
    /** Whether the card becomes active as soon as it is issued. */
    activates: p.boolean(),
    frozenReason: nullable.string(),
    closedReason: nullable.string(),
    closedAt: nullable.instant(),
    /** The purse: a wallet that only this card pays from; null until it is funded. */
    walletId: nullable.string(),
    processor: p.text(),
    /** The number in use; null until the processor has issued one. */
    numberId: nullable.string(),
    brand: nullable.string(),
    last4: nullable.string(),
    expMonth: nullable.integer(),
    expYear: nullable.integer(),
    /** Why the processor has not done what the card asks of it. */
    processorProblem: nullable.string(),
    /** When the process or the sweep has something to do for the card; null once nothing is left to do. */
    dueAt: nullable.instant(),
    /** How many calls of the processor in a row have brought no answer so far. */
    attempts: p.integer().onCreate(() => 0),
    /** When the processor is called again, unless the call under way is answered; null = no call is, and none has failed. */
    callDueAt: nullable.instant(),
    /** The id of the number that the processor has been asked for in place of the current one. */
    nextNumberId: nullable.string(),
    nextNumberAt: nullable.instant(),
    /** How long the number before the next one still pays. */
    overlapMinutes: nullable.integer(),
    /** When the one payment that the card was made for had ended: the card closes. */
    spentAt: nullable.instant(),
    /** When what the purse of a closed card still has is to be given back; null = it has nothing. */
    purseDueAt: nullable.instant(),
    workflowId: nullable.string(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
  },
})

/** A virtual card of an agent. Its terms (`CardTerms`), which change with it, hold what spends must know. */
export class Card extends card.class {}
card.setClass(Card)

/** `current` pays; `retiring` pays until `retiresAt`; `replaced` pays nothing new, and clears what it was authorized for. */
export const numberMachine = machine('card-number', {
  current: ['retiring', 'replaced'],
  retiring: ['replaced'],
  replaced: [],
})

const numberStates = ['inactive', 'active', 'closed'] as const satisfies readonly NumberState[]

const number = defineEntity({
  ...tenantTable('CardNumber', 'card_numbers', 'agentId'),
  properties: {
    ...record('cardnumber'),
    agentId: p.text(),
    cardId: p.text(),
    status: p.enum(numberMachine.states).onCreate(() => numberMachine.initial),
    processor: p.text(),
    processorCardId: p.text(),
    brand: p.text(),
    last4: p.text(),
    expMonth: p.integer(),
    expYear: p.integer(),
    retiresAt: nullable.instant(),
    /** The end printed on it: the last instant of that month. */
    endsAt: timestamp(),
    /** The state that the processor has confirmed last: each change is requested until it has. */
    processorState: p.enum(numberStates).onCreate(() => 'inactive' as const),
    /** The state that was requested and is not confirmed: the number may be in either. */
    requestedState: p
      .enum(numberStates)
      .name('told_state')
      .$type<NumberState | null>()
      .strictNullable()
      .onCreate(() => null),
    /** Counts the states that were requested: each has a reference of its own. */
    requestSeq: p
      .integer()
      .name('told_count')
      .onCreate(() => 0),
    /** The version of the card's limits and controls that the processor has confirmed last; the first, until it has. */
    controlsVersion: p.integer().onCreate(() => 1),
  },
})

/** A number that the processor has issued for a card, without the number: rotation gives a card another one. */
export class CardNumber extends number.class {}
number.setClass(CardNumber)

/** The data of a card's event. */
export const cardEvent = (
  {
    id,
    agentId,
    intentId,
    requestId,
    status,
    last4,
  }: Pick<Card, 'id' | 'agentId' | 'intentId' | 'requestId' | 'status' | 'last4'>,
  reason?: string | null,
) => ({
  cardId: id,
  agentId,
  ...(intentId ? { intentId } : {}),
  ...(requestId ? { requestId } : {}),
  status,
  last4,
  ...(reason ? { reason: excerpt(reason) } : {}),
})

export const cardsPersonal = {
  card_terms: {
    personal: {
      merchant_allowlist: { kind: 'payment', ground: 'contract', forget: 'empty' },
      merchant_blocklist: { kind: 'payment', ground: 'contract', forget: 'empty' },
    },
    plain: ['allowed_countries', 'allowed_mccs', 'blocked_mccs', 'mcc_categories'],
  },
  cards: {
    personal: {
      display_name: { kind: 'words', ground: 'contract', forget: 'word' },
      frozen_reason: { kind: 'words', ground: 'contract', forget: 'word' },
      closed_reason: { kind: 'words', ground: 'contract', forget: 'word' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
      brand: { kind: 'account', ground: 'payments', forget: 'word' },
      last4: { kind: 'account', ground: 'payments', forget: { value: '0000' } },
    },
    plain: ['usage', 'processor', 'number_id', 'processor_problem', 'next_number_id'],
  },
  card_numbers: {
    personal: {
      processor_card_id: { kind: 'account', ground: 'payments', forget: 'pseudonym' },
      brand: { kind: 'account', ground: 'payments', forget: 'word' },
      last4: { kind: 'account', ground: 'payments', forget: { value: '0000' } },
    },
    plain: ['processor', 'processor_state', 'told_state'],
  },
} as const satisfies Personal
