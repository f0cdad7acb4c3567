import { hash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { minutes } from '../../values/clock.ts'
import { foldMerchant } from '../merchants/index.ts'
import type { Decision } from '../policies/index.ts'

export const intentMachine = machine('intent', {
  created: ['approved', 'denied', 'cancelled', 'expired'],
  approved: ['completed', 'cancelled', 'expired'],
  denied: [],
  cancelled: [],
  expired: [],
  completed: [],
})

export const deciders = ['policy', 'key', 'console', 'operator', 'mandate'] as const

/** How the receipts of its payment stand: a mismatch has another total than what was paid. */
export const receiptStates = ['matched', 'mismatch'] as const

/** The decider of an intent. Nothing proves the name that an operator gives. */
export interface DecidedBy {
  type: (typeof deciders)[number]
  id: string | null
  name: string | null
}

const schema = defineEntity({
  ...tenantTable('Intent', 'intents', 'agentId', 'delegationId'),
  properties: {
    ...record('intent'),
    agentId: p.text(),
    status: p.enum(intentMachine.states).onCreate(() => intentMachine.initial),
    amountEuros: p.bigint().name('amount_cents'),
    currency: p.enum(['EUR'] as const).onCreate(() => 'EUR' as const),
    merchant: p.text(),
    /** The IBAN of the beneficiary or wallet that is paid, as it was when the intent was declared. */
    payeeIban: nullable.string(),
    mcc: nullable.string(),
    country: nullable.string(),
    purpose: p.text(),
    beneficiaryId: nullable.string(),
    walletId: nullable.string(),
    /** The payment request that it pays, of whichever owner. */
    requestId: nullable.string(),
    /** The payment token that was made with it: the token alone names the wallet that is paid. */
    paymentTokenId: nullable.string(),
    cardId: nullable.string(),
    runId: nullable.string(),
    delegationId: nullable.string(),
    /** The token that declared the intent, if the token has a budget of its own. */
    tokenId: nullable.string(),
    clientIntentId: nullable.string(),
    possibleDuplicateOf: nullable.string(),
    /** The key by which a payment of the card network finds the intent; null in intents of earlier versions. */
    merchantKey: nullable.string(),
    /** What its approval has held: the amount, and the tolerance above it. */
    holdEuros: nullable.euros('hold_cents'),
    fingerprint: nullable.string().name('likeness'),
    expiresAt: timestamp(),
    decidedAt: nullable.instant(),
    decidedBy: p
      .json<DecidedBy | null>()
      .strictNullable()
      .onCreate(() => null),
    comment: nullable.string(),
    decision: p.json<Decision>(),
    transactionId: nullable.string(),
    /** The payment that is under way: until it has ended, the intent is neither cancelled nor does it expire. */
    paymentId: nullable.string(),
    workflowId: nullable.string(),
    /** How the receipts of its payment stand, as these note it; null where there are none. */
    receiptStatus: p
      .enum(receiptStates)
      .$type<(typeof receiptStates)[number] | null>()
      .strictNullable()
      .onCreate(() => null),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
  },
})

export class Intent extends schema.class {}
schema.setClass(Intent)

/** The cause under which the ledger holds the intent's money and the counters its part of the limits. */
export const causeOf = ({ id }: { readonly id: string }) => ({ type: 'intent', id })

/** Whether a record is its payee, which our own rails pay: no card pays it then. */
export const hasPayeeRecord = ({
  beneficiaryId,
  walletId,
  requestId,
  paymentTokenId,
}: Pick<Intent, 'beneficiaryId' | 'walletId' | 'requestId' | 'paymentTokenId'>): boolean =>
  [beneficiaryId, walletId, requestId, paymentTokenId].some(one => one !== null)

/** How long a payment token can be charged, from the moment it can be. */
export const TOKEN_LIFETIME_MS = minutes(15)

/** How long a second intent with the same fingerprint may be the first one, declared again by mistake. */
export const DUPLICATE_WINDOW_MS = minutes(10)

/**
 * Equal for intents of one run with the same amount and the same merchant, however that is spelled. Null outside of a
 * run: an agent that pays the same a hundred times a day means it.
 */
export const fingerprintOf = ({
  merchant,
  amountEuros,
  runId,
}: Pick<Intent, 'merchant' | 'amountEuros' | 'runId'>) =>
  runId && hash('sha256', `${amountEuros} ${runId} ${foldMerchant(merchant)}`, 'base64url').slice(0, 22)
