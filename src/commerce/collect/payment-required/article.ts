import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { Euros } from '../../../values/money.ts'
import type { OfferingKey } from '../../mpp-keys/index.ts'
import type { Settlement } from './settlement.ts'

/** What a 402 wants paid: the rest of a request, or an article of the sandbox's merchants. */
export interface Article {
  readonly tenant: Tenant
  /** How far the clock of the tenant is ahead, in milliseconds. */
  readonly offsetMs: number
  /** The present time of the tenant. */
  readonly now: Date
  readonly key: OfferingKey
  /** What is paid, as the settlement names it. */
  readonly subject: Pick<Settlement, 'requestId' | 'walletId' | 'agentId' | 'scenario'>
  /** The id by which the merchant knows it, which the receipt repeats. */
  readonly externalId: string
  readonly amountEuros: Euros
  readonly description: string
  /** Whoever is paid, by the public name. */
  readonly merchantName: string
  /** The card networks that the acquirer takes. */
  readonly networks: readonly string[]
  /** When it can no longer be paid; null for always. */
  readonly expiresAt: Date | null
  /** Why it can no longer be paid, if so. */
  readonly ended: 'request_paid' | 'request_gone' | null
}
