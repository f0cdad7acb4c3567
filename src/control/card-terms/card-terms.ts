import { defineEntity, p } from '@mikro-orm/core'
import { nullable, record, tenantTable, textArray } from '../../kernel/database/entity.ts'

export const cardStatuses = ['pending', 'inactive', 'active', 'frozen', 'closed'] as const

const schema = defineEntity({
  ...tenantTable('CardTerms', 'card_terms', 'agentId'),
  properties: {
    ...record('card'),
    agentId: p.text(),
    /** The status of the card, as the card's own record has it. */
    status: p.enum(cardStatuses),
    /** The only intent that the card pays; null = whatever its terms and the agent's policy allow. */
    intentId: nullable.string(),
    maxTransactionEuros: nullable.euros('max_transaction_cents'),
    dailyLimitEuros: nullable.euros('daily_limit_cents'),
    monthlyLimitEuros: nullable.euros('monthly_limit_cents'),
    merchantAllowlist: textArray(),
    merchantBlocklist: textArray(),
    allowedCountries: textArray(),
    allowedMccs: textArray(),
    blockedMccs: textArray(),
    mccCategories: textArray(),
    /** Counts changes of limits and controls: a version never changes, so it is compiled once. */
    version: p.integer().onCreate(() => 1),
  },
})

/**
 * What a spend must know of a card: whose it is, whether it can pay, its limits and controls. Its id is the card's. The
 * cards write it, which lie to the right of the intents; whoever changes it has locked the agent.
 */
export class CardTerms extends schema.class {}
schema.setClass(CardTerms)
