import { defineEntity, p } from '@mikro-orm/core'
import type { cardStatuses } from '../../control/card-terms/index.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import {
  metadataColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import type { CardNumberState } from '../../ports/card-processor.ts'
import { truncateText } from '../../values/schemas.ts'

export const cardMachine = stateMachine('card', {
  pending: ['inactive', 'active', 'closed'],
  inactive: ['active', 'closed'],
  active: ['frozen', 'closed'],
  frozen: ['active', 'closed'],
  closed: [],
} satisfies Record<(typeof cardStatuses)[number], readonly (typeof cardStatuses)[number][]>)

export const cardClosedReasons = [
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
    ...recordColumns('card'),
    agentId: p.text(),
    status: p.enum(cardMachine.states).onCreate(() => cardMachine.initial),
    usage: plain(p.enum(cardUsages)),
    displayName: personal(p.text(), 'words', 'contract', 'word'),
    /** The only intent that the card pays; the card closes with it. */
    intentId: nullable.string(),
    requestId: nullable.string(),
    /** The token with a maximum that has the card’s data, towards which counts what the card can be charged without an intent. */
    tokenId: nullable.string(),
    activates: p.boolean(),
    frozenReason: personal(nullable.string(), 'words', 'contract', 'word'),
    closedReason: personal(nullable.string(), 'words', 'contract', 'word'),
    closedAt: nullable.instant(),
    /** The purse: a wallet from which only this card pays; null until it is funded. */
    walletId: nullable.string(),
    processor: plain(p.text()),
    numberId: plain(nullable.string()),
    brand: personal(nullable.string(), 'account', 'payments', 'word'),
    last4: personal(nullable.string(), 'account', 'payments', { value: '0000' }),
    expMonth: nullable.integer(),
    expYear: nullable.integer(),
    processorProblem: plain(nullable.string()),
    dueAt: nullable.instant(),
    attempts: p.integer().onCreate(() => 0),
    /**
     * When the processor is called again unless the current call is answered; null if no call is pending and
     * none failed.
     */
    callDueAt: nullable.instant(),
    nextNumberId: plain(nullable.string()),
    nextNumberAt: nullable.instant(),
    overlapMinutes: nullable.integer(),
    spentAt: nullable.instant(),
    /** When the remaining balance of a closed card's purse is returned; null if the purse is empty. */
    purseDueAt: nullable.instant(),
    workflowId: nullable.string(),
    metadata: personal(metadataColumn(), 'words', 'contract', 'empty'),
  },
})

/** A virtual card of an agent. What spends need of it is in its terms (`CardTerms`), which change with it. */
export class Card extends card.class {}
card.setClass(Card)

/** `current` pays; `retiring` pays until `retiresAt`; `replaced` pays nothing new, and clears what was authorized. */
export const cardNumberMachine = stateMachine('card-number', {
  current: ['retiring', 'replaced'],
  retiring: ['replaced'],
  replaced: [],
})

const numberStates = ['inactive', 'active', 'closed'] as const satisfies readonly CardNumberState[]

const number = defineEntity({
  ...tenantTable('CardNumber', 'card_numbers', 'agentId'),
  properties: {
    ...recordColumns('cardnumber'),
    agentId: p.text(),
    cardId: p.text(),
    status: p.enum(cardNumberMachine.states).onCreate(() => cardNumberMachine.initial),
    processor: plain(p.text()),
    processorCardId: personal(p.text(), 'account', 'payments', 'pseudonym'),
    brand: personal(p.text(), 'account', 'payments', 'word'),
    last4: personal(p.text(), 'account', 'payments', { value: '0000' }),
    expMonth: p.integer(),
    expYear: p.integer(),
    retiresAt: nullable.instant(),
    /** The last instant of the month printed on the card. */
    endsAt: timestampColumn(),
    /** The state that the processor confirmed last. Each change is requested until it is confirmed. */
    processorState: plain(p.enum(numberStates).onCreate(() => 'inactive' as const)),
    /** The requested state, which is not confirmed yet, so the number may be in either state. */
    requestedState: plain(nullable.enum(numberStates).name('told_state')),
    /** Counts requested states, each of which has its own reference at the processor. */
    requestSeq: p
      .integer()
      .name('told_count')
      .onCreate(() => 0),
    /** The version of limits and controls that the processor confirmed last; 1 until then. */
    controlsVersion: p.integer().onCreate(() => 1),
  },
})

export class CardNumber extends number.class {}
number.setClass(CardNumber)

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
  ...(reason ? { reason: truncateText(reason) } : {}),
})
