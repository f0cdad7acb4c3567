import type { Actor, TenantNow } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { balancesOf, openBook } from '../../money/ledger/index.ts'
import type { Euros } from '../../values/money.ts'
import { type Cause, openTally, readTally, type Tally } from '../budgets/index.ts'
import {
  decideSpend,
  findSpenders,
  lockSpenders,
  type SpendDecision,
  type Spender,
} from '../policies/index.ts'
import { openRiskAssessor, type RiskAssessor } from '../risk/index.ts'
import type { SpendRequest } from '../rules/index.ts'
import { type Levels, openLevels, type Under } from './budget-levels.ts'
import { alikeOf } from './duplicates.ts'
import { likenessOf } from './intent.ts'
import { type Payee, travelled } from './payees.ts'

/** An agent asks to spend, under something. */
export interface Ask extends Under, Payee, Pick<SpendRequest, 'amountEuros' | 'mcc'> {
  readonly agentId: string
}

/** What is in wallets. */
interface Funds {
  available(walletId: string): Euros
  isFrozen(walletId: string): boolean
}

/** Everything that decides about intents, and what has been decided so far. */
export interface Scene<F extends Funds = Funds> {
  readonly agents: ReadonlyMap<string, Spender>
  readonly levels: Levels
  readonly tally: Tally
  readonly funds: F
  readonly riskAssessor: RiskAssessor
  /** The latest intent of each likeness. */
  readonly alike: Map<string, string>
}

type Reading<Wanted, Found> = (sql: Sql, opening: TenantNow, wanted: readonly Wanted[]) => Promise<Found>

/** How those rows are come by that can be held or only be looked at. */
interface Means<F extends Funds> {
  readonly agents: typeof lockSpenders
  readonly tally: Reading<string, Tally>
  readonly funds: Reading<string, F>
}

/** In the global order: agents, counters, accounts; then what nobody changes without those. */
const gathering =
  <F extends Funds>(means: Means<F>): Reading<Ask, Scene<F>> =>
  async (sql, opening, asks) => {
    const { tenant, now } = opening
    const agents = await means.agents(
      sql,
      tenant,
      asks.map(({ agentId }) => agentId),
    )
    const levels = await openLevels(sql, tenant, asks)
    const tally = await means.tally(sql, opening, [...agents.keys(), ...levels.subjects])
    const wallets = [...agents.values()].map(({ walletId }) => walletId)
    const funds = await means.funds(sql, opening, wallets)
    const known = asks.filter(({ agentId }) => agents.has(agentId))
    const riskAssessor = await openRiskAssessor(sql, opening, known)
    const alike = known.flatMap(({ agentId, ...ask }) => {
      const likeness = likenessOf(ask)
      return likeness ? { agentId, likeness } : []
    })
    return { agents, levels, tally, funds, riskAssessor, alike: await alikeOf(sql, alike, now) }
  }

/** For who writes what comes of it. */
export const holdScene = gathering({
  agents: lockSpenders,
  tally: (sql, opening, spending) => openTally(sql, opening, { spending }),
  funds: (sql, opening, wallets) => openBook(sql, opening, { wallets }),
})

/** For who only wants to know. */
export const viewScene = gathering({
  agents: findSpenders,
  tally: readTally,
  async funds(sql, { tenant }, wallets) {
    const balances = await balancesOf(sql, tenant, wallets)
    return {
      available: wallet => balances.get(wallet)?.availableEuros ?? 0n,
      isFrozen: wallet => balances.get(wallet)?.frozen ?? false,
    }
  },
})

/** In which run, by the header or the body, and with which token. */
export const underOf = (
  { delegationId = null, budgetId = null }: Actor,
  inHeader: string | null,
  inBody: string | null,
): Under => ({ runId: inBody ?? inHeader, delegationId, tokenId: budgetId })

/** An agent of the caller: its token asks for itself only. */
export const askerOf = (actor: Actor, agentId: string, { agents }: Scene): Spender | undefined => {
  const agent = actor.agentId === null || actor.agentId === agentId ? agents.get(agentId) : undefined
  return agent?.status === 'deleted' ? undefined : agent
}

/** What stands in the way before anything is decided; undefined where nothing does. */
export function obstacleTo(ask: Ask, { levels }: Scene, now: Date, runInHeader: string | null) {
  if (runInHeader && ask.runId !== runInHeader) return 'run_mismatch'
  return levels.hasRun(ask, ask.agentId) ? levels.obstacleTo(ask, now) : 'run_not_found'
}

export interface DecidedIntent extends SpendDecision {
  readonly possibleDuplicateOf: string | null
}

/** What is decided as things stand: the same whether it is meant or only asked. */
export function decideOn(
  ask: Ask,
  agent: Spender,
  { levels, tally, funds, riskAssessor, alike }: Scene,
  opening: TenantNow,
  subject: Cause,
): DecidedIntent {
  const { amountEuros, merchant, payeeIban, mcc, country } = ask
  const spend = { amountEuros, merchant, payeeIban, mcc, country }
  const likeness = likenessOf(ask)
  const possibleDuplicateOf = (likeness && alike.get(likeness)) || null
  const asked = {
    ...{ ...spend, kind: 'intent' as const, intentId: null, approval: null, possibleDuplicateOf },
    budgets: levels.budgetsOf(ask, tally),
    risk: riskAssessor.assess(agent.id, travelled(spend)),
    walletFrozen: funds.isFrozen(agent.walletId),
    availableEuros: funds.available(agent.walletId),
  }
  const counters = tally.countersOf(agent.id, agent.term)
  return { ...decideSpend(agent, asked, counters, opening, subject), possibleDuplicateOf }
}
