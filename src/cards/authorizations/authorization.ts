import { defineEntity, p } from '@mikro-orm/core'
import type { PaymentFacts } from '../../control/payments/index.ts'
import type { Decision } from '../../control/policies/index.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'

/**
 * The status follows from the facts, which come in any order: so nearly every step is possible. `pending`: a machine payment
 * was begun, and nobody has said yet what became of it; `void`: it came to nothing. `confirmed`: the agent has confirmed its
 * checkout, or a merchant has given a receipt, and the network has said nothing yet.
 */
export const authorizationMachine = machine('card-authorization', {
  pending: ['declined', 'authorized', 'cleared', 'reversed', 'expired', 'confirmed', 'refunded', 'void'],
  declined: ['authorized', 'cleared', 'reversed', 'expired', 'confirmed', 'refunded'],
  authorized: ['declined', 'cleared', 'reversed', 'expired', 'confirmed', 'refunded'],
  confirmed: ['authorized', 'cleared', 'reversed', 'expired', 'refunded', 'void'],
  cleared: ['authorized', 'refunded'],
  reversed: ['authorized', 'declined', 'cleared', 'expired', 'refunded', 'confirmed'],
  expired: ['cleared', 'refunded', 'confirmed', 'reversed', 'void'],
  refunded: ['cleared', 'authorized', 'reversed', 'expired', 'confirmed'],
  void: ['cleared', 'authorized', 'reversed', 'expired', 'refunded', 'confirmed', 'declined'],
})

export type AuthorizationStatus = (typeof authorizationMachine.states)[number]

/** What pays: the hold of an approved intent, the purse of the card, or the wallet of the agent. */
export const sources = ['intent', 'purse', 'wallet'] as const
export type Source = (typeof sources)[number]

const schema = defineEntity({
  ...tenantTable('CardAuthorization', 'card_authorizations', 'agentId'),
  properties: {
    ...record('cardauth'),
    agentId: p.text(),
    /** Null while a checkout has confirmed a payment of which the network has not named the card. */
    cardId: nullable.string(),
    /** The processor's id of the payment; null while only a checkout has confirmed it. */
    processorRef: nullable.string(),
    status: p.enum(authorizationMachine.states).onCreate(() => authorizationMachine.initial),
    source: p.enum(sources),
    walletId: p.text(),
    intentId: nullable.string(),
    networkTokenId: nullable.string(),
    /** The machine payment that began it; null for a payment of which the network or a checkout spoke first. */
    mppCredentialId: nullable.string(),
    amountEuros: p.bigint().name('amount_cents'),
    approvedEuros: p.bigint().name('approved_cents'),
    heldEuros: p.bigint().name('held_cents'),
    capturedEuros: p.bigint().name('captured_cents'),
    clearedEuros: p.bigint().name('cleared_cents'),
    refundedEuros: p.bigint().name('refunded_cents'),
    merchant: p.text(),
    merchantKey: p.text(),
    descriptor: p.text(),
    mcc: nullable.string(),
    country: nullable.string(),
    facts: p.json<PaymentFacts>(),
    decision: p.json<Decision | null>().strictNullable(),
    declineReason: nullable.string(),
    /** When what is held or confirmed is given back; null while nothing is. */
    expiresAt: nullable.instant(),
    transactionId: nullable.string(),
  },
})

/** A payment by card from the network's first word to its last: how it stands follows from its facts. */
export class CardAuthorization extends schema.class {}
schema.setClass(CardAuthorization)

const message = defineEntity({
  ...tenantTable('CardMessage', 'card_messages', 'agentId'),
  properties: {
    /** The processor's id of the message. */
    ...record('cardmessage'),
    agentId: p.text(),
    cardId: p.text(),
    authorizationId: nullable.string(),
    kind: p.text(),
    /** SHA-256 of the signed bytes: the same id with other bytes is another message. */
    digest: p.text(),
    answerStatus: p.integer(),
    answerHeaders: p.json<Record<string, string>>(),
    answerBody: p.text(),
  },
})

/** A message of the processor that was taken, and the bytes it was answered with. */
export class CardMessage extends message.class {}
message.setClass(CardMessage)
