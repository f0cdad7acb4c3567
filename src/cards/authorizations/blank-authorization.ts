import type { IntentRow } from '../../control/intents/index.ts'
import { nameOfDescriptor, payableKey } from '../../control/merchants/index.ts'
import { noFacts } from '../../control/payments/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { newId } from '../../values/ids.ts'
import { authorizationMachine } from './authorization.ts'
import type { AuthorizationRow } from './authorization-rows.ts'

/** What pays an authorization. */
export interface PaidFrom {
  readonly intent: IntentRow | undefined
  readonly source: AuthorizationRow['source']
  readonly walletId: string
}

type Named = Pick<AuthorizationRow, 'agentId' | 'cardId' | 'processorRef' | 'descriptor' | 'mcc' | 'country'>

/** Whom a payment goes to, and what pays it. */
function placed(descriptor: string, { intent, source, walletId }: PaidFrom) {
  const merchant = intent?.merchant ?? nameOfDescriptor(descriptor)
  return { merchant, merchantKey: payableKey(merchant), source, walletId, intentId: intent?.id ?? null }
}

/** Whether no message has told yet what the payment is for: a reversal or an expiry came first, or a refund to the wallet. */
export const isUnplaced = ({ facts, source }: AuthorizationRow): boolean =>
  facts.asks.length + facts.clearings.length + facts.outcome.length === 0 &&
  facts.confirmed === null &&
  facts.begun === undefined &&
  (facts.refunds.length === 0 || source === 'wallet')

/** Says whom an unplaced payment goes to, and what pays it, as if this message had come first. */
export function place(
  row: AuthorizationRow,
  { descriptor, mcc, country }: Pick<AuthorizationRow, 'descriptor' | 'mcc' | 'country'>,
  from: PaidFrom,
): void {
  Object.assign(row, { descriptor, mcc, country, ...placed(descriptor, from) })
}

/** A new authorization of which nothing is known yet. */
export function blankAuthorization(
  named: Named,
  { intent, source, walletId }: PaidFrom,
  { tenant, now }: TenantNow,
  id = newId('cardauth'),
): AuthorizationRow {
  return {
    ...tenant,
    ...named,
    id,
    createdAt: now,
    updatedAt: now,
    status: authorizationMachine.initial,
    ...placed(named.descriptor, { intent, source, walletId }),
    networkTokenId: null,
    mppCredentialId: null,
    amountEuros: 0n,
    approvedEuros: 0n,
    heldEuros: 0n,
    capturedEuros: 0n,
    clearedEuros: 0n,
    refundedEuros: 0n,
    facts: noFacts,
    decision: null,
    declineReason: null,
    expiresAt: null,
    transactionId: null,
  }
}
