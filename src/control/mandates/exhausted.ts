import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { tableOf } from '../../kernel/database/hot-table.ts'
import type { BudgetCounters } from '../budgets/index.ts'
import { isUsedUp } from './constraints.ts'
import { Mandate, mandateMachine } from './mandate.ts'
import { findOpenMandate } from './open-mandates.ts'
import { mandateProcess } from './process.ts'
import { mandateEvent } from './response.ts'
import type { mandateExhausted } from './schemas.ts'

type Telling = Pick<Context<never, typeof mandateExhausted>, 'emit' | 'wake'>

type Ended = Pick<Mandate, 'id' | 'status' | 'suspendedBecause' | 'endedAt' | 'updatedAt'>

const update = updateOf(tableOf(Mandate), ['status', 'suspendedBecause', 'endedAt', 'updatedAt'])

/** Ends mandates whose last part has been paid, in the transaction of the payment. Their agents are locked. */
export class ExhaustedMandates {
  readonly #tenantNow: TenantNow
  readonly #ended = new Map<string, Ended>()

  constructor(tenantNow: TenantNow) {
    this.#tenantNow = tenantNow
  }

  /** To be called once a payment on an intent that the mandate has approved is counted. */
  endIfUsedUp(id: string, counters: BudgetCounters, { emit, wake }: Telling): void {
    const mandate = findOpenMandate(id, counters)
    if (!mandate || this.#ended.has(id) || !isUsedUp(mandate.constraints, counters.madeUses(id))) return
    if (!mandateMachine.move(mandate, 'exhausted')) return
    const { now } = this.#tenantNow
    const { agentId, personId, status, expiresAt } = mandate
    this.#ended.set(id, { id, status, suspendedBecause: null, endedAt: now, updatedAt: now })
    emit(
      'mandate.exhausted',
      mandateEvent({ id, agentId, personId, status, expiresAt, suspendedBecause: null }),
    )
    wake(mandateProcess, { id, agentId })
  }

  write(sql: Sql): Promise<void> {
    return update(sql, this.#tenantNow.tenant, [...this.#ended.values()])
  }
}
