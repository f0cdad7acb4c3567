import { openCounters } from '../../../control/budgets/index.ts'
import { findIntents, Payments } from '../../../control/intents/index.ts'
import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { Sql } from '../../../kernel/contract/sql.ts'
import type { Euros } from '../../../values/money.ts'
import { type AuthorizationRow, updateAuthorizations } from '../authorization-rows.ts'
import { reservationCausesOf } from './causes.ts'
import { standingOf } from './facts.ts'
import { type CountingBatch, countUse } from './payment.ts'

/** What a dispute gives back of a payment, in the limits in which the payment was counted. */
export class ReturnedUse {
  readonly #row: AuthorizationRow
  readonly #batch: CountingBatch & TenantNow
  #isChanged = false

  constructor(row: AuthorizationRow, batch: CountingBatch & TenantNow) {
    this.#row = row
    this.#batch = batch
  }

  /** So much is the owner's by this dispute: it is counted as spent no more, and again where it is less. */
  set(disputeId: string, euros: Euros): void {
    const { returned = [], ...facts } = this.#row.facts
    const known = returned.find(({ id }) => id === disputeId)
    if (BigInt(known?.amount ?? 0) === euros) return
    const others = returned.filter(one => one !== known)
    const all = euros === 0n ? others : [...others, { id: disputeId, amount: String(euros) }]
    this.#row.facts = all.length === 0 ? facts : { ...facts, returned: all }
    this.#row.updatedAt = this.#batch.now
    countUse(this.#row, standingOf(this.#row.facts), this.#batch)
    this.#isChanged = true
  }

  async write(sql: Sql): Promise<void> {
    if (!this.#isChanged) return
    const { tenant, counters } = this.#batch
    await Promise.all([counters.write(sql), updateAuthorizations(sql, tenant, [this.#row])])
  }
}

/** Opens the limits in which a payment was counted. The caller has locked its agent, and locks accounts after this. */
export async function openReturned(
  sql: Sql,
  tenantNow: TenantNow,
  row: AuthorizationRow | undefined,
): Promise<ReturnedUse | null> {
  if (!row) return null
  const { tenant } = tenantNow
  const intentIds = row.intentId === null ? [] : [row.intentId]
  const causes = reservationCausesOf(row)
  const [counters, intents] = await Promise.all([
    openCounters(sql, tenantNow, { causes, agents: [row.agentId] }),
    findIntents(sql, tenant, intentIds),
  ])
  const agents = new Map()
  const payments = new Payments(tenantNow, intentIds, { agents, counters, intents })
  return new ReturnedUse(row, { ...tenantNow, agents, counters, payments })
}
