import { openCounters } from '../../control/budgets/index.ts'
import { findIntents, Payments } from '../../control/intents/index.ts'
import {
  addFact,
  type CountingBatch,
  countUsage,
  foldFacts,
  reservationReferences,
} from '../../control/payments/index.ts'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { type AuthorizationRow, updateAuthorizations } from './authorization-rows.ts'
import { cardChannel } from './channel.ts'

/** What disputes leave with the owner of a payment, in the limits towards which it was counted. */
export class DisputeCredits {
  readonly #row: AuthorizationRow
  readonly #batch: CountingBatch & TenantNow
  #isChanged = false

  constructor(row: AuthorizationRow, batch: CountingBatch & TenantNow) {
    this.#row = row
    this.#batch = batch
  }

  /** So much stays with the owner by this dispute: it is no longer counted as spent, and again if it gets less. */
  set(disputeId: string, cents: Euros): void {
    const row = this.#row
    const known = row.facts.returned?.find(({ id }) => id === disputeId)
    if (BigInt(known?.amount ?? 0) === cents) return
    row.facts = addFact(row.facts, { type: 'credited', id: disputeId, cents })
    row.updatedAt = this.#batch.now
    countUsage(row, foldFacts(row.facts), cardChannel, this.#batch)
    this.#isChanged = true
  }

  async write(sql: Sql): Promise<void> {
    if (!this.#isChanged) return
    const { tenant, counters } = this.#batch
    await Promise.all([counters.write(sql), updateAuthorizations(sql, tenant, [this.#row])])
  }
}

/** Opens the limits towards which a payment was counted. The caller has locked its agent, and locks accounts after this. */
export async function openDisputeCredits(
  sql: Sql,
  tenantNow: TenantNow,
  row: AuthorizationRow | undefined,
): Promise<DisputeCredits | null> {
  if (!row) return null
  const { tenant } = tenantNow
  const intentIds = row.intentId === null ? [] : [row.intentId]
  const causes = reservationReferences(row)
  const [counters, intents] = await Promise.all([
    openCounters(sql, tenantNow, { causes, agents: [row.agentId] }),
    findIntents(sql, tenant, intentIds),
  ])
  const agents = new Map()
  const payments = new Payments(tenantNow, intentIds, { agents, counters, intents })
  return new DisputeCredits(row, { ...tenantNow, agents, counters, payments })
}
