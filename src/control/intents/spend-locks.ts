import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { LockLanes } from '../../kernel/contract/handlers.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import {
  type BookAccounts,
  LockedBook,
  lockBook,
  type PostingCause,
  readWalletBalances,
} from '../../money/ledger/index.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'
import { BudgetCounters, lockCounters } from '../budgets/index.ts'
import { readCountersOfAgents } from '../mandates/index.ts'
import { findSpendingAgents, lockSpendingAgents, type SpendingAgent } from '../policies/index.ts'
import { findIntents, type IntentRow, lockIntents, lockSpendingAgentsOfIntents } from './intent.ts'

/** The money in wallets: either the ledger's locked book, or balances that were only read. */
export interface WalletFunds {
  available(walletId: string): Cents
  isFrozen(walletId: string): boolean
}

/** What spending needs beside the agents. */
interface SpendNeeds extends Partial<BookAccounts> {
  /** Subjects that new reservations count towards. */
  readonly spending?: readonly string[]
  /** Agents whose mandates may approve. */
  readonly mandatesOf?: readonly string[]
  /** Earlier reservations, with their counters. */
  readonly reservations?: readonly PostingCause[]
  readonly intents?: readonly string[]
  /** Agents of these reservations that `agents` has not locked here: their counters are locked in order, too. */
  readonly reservationAgents?: readonly string[]
}

interface SpendRows<F> {
  readonly agents: ReadonlyMap<string, SpendingAgent>
  readonly counters: BudgetCounters
  readonly book: F
  readonly intents: ReadonlyMap<string, IntentRow>
}

/** Where a decision has its rows from: they are locked, or only read for a simulation. */
export interface SpendSource<F extends WalletFunds = WalletFunds> {
  readonly sql: Sql
  readonly tenantNow: TenantNow
  agents(ids: readonly string[]): Promise<ReadonlyMap<string, SpendingAgent>>
  take(needs: SpendNeeds): Promise<SpendRows<F>>
}

type Agents = ReadonlyMap<string, SpendingAgent>

/**
 * The one order in which all spending locks: agents, counters, accounts of all owners concerned, intents, and then the
 * records of the caller. Reservations and holds are read under the locks of their counters and accounts. What two
 * transactions lock in two orders ends in a deadlock, so other code locks one of these tables, or several in this order
 * (`lockAgent`, `lockBook`).
 */
export class SpendLocks implements SpendSource<LockedBook> {
  readonly sql: Sql
  readonly tenantNow: TenantNow
  #agents: Agents = new Map()
  #isTaken = false

  constructor(sql: Sql, { tenant, now }: TenantNow) {
    this.sql = sql
    this.tenantNow = { tenant, now }
  }

  /** Until the transaction ends, only the caller may freeze them. */
  agents(ids: readonly string[]): Promise<Agents> {
    return this.#lockAgents(lockSpendingAgents, ids)
  }

  agentsOf(intentIds: readonly string[]): Promise<Agents> {
    return this.#lockAgents(lockSpendingAgentsOfIntents, intentIds)
  }

  async #lockAgents(lock: typeof lockSpendingAgents, ids: readonly string[]): Promise<Agents> {
    if (this.#isTaken) throw new Error('agents are locked before counters, accounts and intents')
    if (ids.length > 0) this.#agents = await lock(this.sql, this.tenantNow.tenant, ids)
    return this.#agents
  }

  /**
   * Sends all its statements in the turn of its call: what the caller sends next is locked and read after them. A
   * need that is not named locks nothing.
   */
  async take(needs: SpendNeeds): Promise<SpendRows<LockedBook>> {
    this.#isTaken = true
    const [counters, book, intents] = await Promise.all([
      this.#counters(needs),
      this.#book(needs),
      lockIntents(this.sql, this.tenantNow.tenant, needs.intents ?? []),
    ])
    return { agents: this.#agents, counters, book, intents }
  }

  async #counters(needs: SpendNeeds): Promise<BudgetCounters> {
    const { spending = [], mandatesOf = [], reservations = [], reservationAgents = [] } = needs
    const { tenant, now } = this.tenantNow
    if (spending.length + mandatesOf.length + reservations.length === 0)
      return new BudgetCounters(tenant, now, [], [])
    const agents = [...this.#agents.keys(), ...reservationAgents]
    return lockCounters(this.sql, this.tenantNow, { spending, mandatesOf, causes: reservations, agents })
  }

  async #book(needs: SpendNeeds): Promise<LockedBook> {
    const { wallets = [], others = [], ifExists = [], otherOwners = [], holds = [] } = needs
    const { tenant, now } = this.tenantNow
    const isEmpty = [wallets, others, ifExists, otherOwners, holds].every(({ length }) => length === 0)
    if (isEmpty) return new LockedBook(tenant, now, [], [])
    return lockBook(this.sql, this.tenantNow, { wallets, others, ifExists, otherOwners, holds })
  }
}

/** Reads without locks what a simulation needs. */
export class SpendReads implements SpendSource {
  readonly sql: Sql
  readonly tenantNow: TenantNow
  #agents: Agents = new Map()

  constructor(sql: Sql, { tenant, now }: TenantNow) {
    this.sql = sql
    this.tenantNow = { tenant, now }
  }

  async agents(ids: readonly string[]): Promise<Agents> {
    this.#agents = await findSpendingAgents(this.sql, this.tenantNow.tenant, ids)
    return this.#agents
  }

  async take({
    spending = [],
    mandatesOf = [],
    wallets = [],
    intents = [],
  }: SpendNeeds): Promise<SpendRows<WalletFunds>> {
    const { tenant } = this.tenantNow
    const [counters, balances, found] = await Promise.all([
      readCountersOfAgents(this.sql, this.tenantNow, spending, mandatesOf),
      readWalletBalances(this.sql, tenant, wallets),
      findIntents(this.sql, tenant, intents),
    ])
    const book = {
      available: (wallet: string) => balances.get(wallet)?.availableCents ?? NO_CENTS,
      isFrozen: (wallet: string) => balances.get(wallet)?.frozen ?? false,
    }
    return { agents: this.#agents, counters, book, intents: found }
  }
}

const FREE_AGENTS = `
select id from agents where owner_id = $1 and mode = $2 and id = any($3::text[]) for no key update skip locked`

const NETWORK_LOCK_WAITS = { sharedTimeoutMs: 50, ownTimeoutMs: 1_000 }

/** Payments first lock their agent. Agents that another transaction has locked do not delay the other payments. */
export const agentLanes = <I>(
  of: LockLanes<I>['of'],
  waits: Pick<LockLanes<I>, 'sharedTimeoutMs' | 'ownTimeoutMs'> = NETWORK_LOCK_WAITS,
): LockLanes<I> => ({
  of,
  ...waits,
  async free(ids, { ownerId, mode }, sql) {
    const rows = await sql<Row & { id: string }>(FREE_AGENTS, [ownerId, mode, ids])
    return rows.map(({ id }) => id)
  },
})
