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

/** Who decided; a name that an operator gave is not proved by anything. */
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
    /** The account of whom beneficiaryId or walletId names, as it was when it was declared. */
    payeeIban: nullable.string(),
    mcc: nullable.string(),
    country: nullable.string(),
    purpose: p.text(),
    beneficiaryId: nullable.string(),
    walletId: nullable.string(),
    cardId: nullable.string(),
    runId: nullable.string(),
    delegationId: nullable.string(),
    /** With which it was declared, where that has a budget of its own. */
    tokenId: nullable.string(),
    clientIntentId: nullable.string(),
    possibleDuplicateOf: nullable.string(),
    likeness: nullable.string(),
    expiresAt: timestamp(),
    decidedAt: nullable.instant(),
    decidedBy: p
      .json<DecidedBy | null>()
      .strictNullable()
      .onCreate(() => null),
    comment: nullable.string(),
    decision: p.json<Decision>(),
    transactionId: nullable.string(),
    /** The payment that is under way on it: while it is open, the intent neither is cancelled nor expires. */
    paymentId: nullable.string(),
    workflowId: nullable.string(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
  },
})

export class Intent extends schema.class {}
schema.setClass(Intent)

/** For what the ledger keeps its money, and the counters its share of the limits. */
export const heldFor = ({ id }: { readonly id: string }) => ({ type: 'intent', id })

/** So long a second intent like the first one is taken for the same one by mistake. */
export const ALIKE_FOR = minutes(10)

/**
 * What makes two intents of a run alike: the merchant, however it is spelled, and the amount. ExternalSystems of a run nothing
 * is: who pays the same a hundred times a day means it.
 */
export const likenessOf = ({
  merchant,
  amountEuros,
  runId,
}: Pick<Intent, 'merchant' | 'amountEuros' | 'runId'>) =>
  runId && hash('sha256', `${amountEuros} ${runId} ${foldMerchant(merchant)}`, 'base64url').slice(0, 22)
