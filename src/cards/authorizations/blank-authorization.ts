import type { IntentRow } from '../../control/intents/index.ts'
import { nameOfDescriptor, payableKey } from '../../control/merchants/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import { newId } from '../../values/ids.ts'
import type { AuthorizationRow } from './authorization-rows.ts'
import { noFacts } from './standing/facts.ts'

/** What pays an authorization. */
export interface PaidFrom {
  readonly intent: IntentRow | undefined
  readonly source: AuthorizationRow['source']
  readonly walletId: string
}

type Named = Pick<AuthorizationRow, 'agentId' | 'cardId' | 'processorRef' | 'descriptor' | 'mcc' | 'country'>

/** A new authorization of which nothing is known yet. */
export function blankAuthorization(
  named: Named,
  { intent, source, walletId }: PaidFrom,
  { tenant, now }: TenantNow,
  id = newId('cardauth'),
): AuthorizationRow {
  const merchant = intent?.merchant ?? nameOfDescriptor(named.descriptor)
  return {
    ...tenant,
    ...named,
    id,
    createdAt: now,
    updatedAt: now,
    status: 'declined',
    source,
    walletId,
    intentId: intent?.id ?? null,
    networkTokenId: null,
    amountEuros: 0n,
    approvedEuros: 0n,
    heldEuros: 0n,
    capturedEuros: 0n,
    clearedEuros: 0n,
    refundedEuros: 0n,
    merchant,
    merchantKey: payableKey(merchant),
    facts: noFacts,
    decision: null,
    declineReason: null,
    expiresAt: null,
    transactionId: null,
  }
}
