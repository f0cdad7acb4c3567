import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { type TokenLimit, tokenLimits } from '../agent-tokens/index.ts'
import type { Tally } from '../budgets/index.ts'
import { type DelegationLimit, delegationLimits } from '../delegations/index.ts'
import type { Budget } from '../rules/index.ts'
import { type RunLimit, runLimits } from '../runs/index.ts'

/** What an intent is made under, besides its agent. */
export interface Under {
  readonly runId: string | null
  readonly delegationId: string | null
  /** A token with a budget of its own. */
  readonly tokenId: string | null
}

/** One budget, or what is only counted. */
interface Level extends Omit<Budget, 'limitEuros' | 'usedEuros'> {
  readonly limitEuros: Euros | null
  /** What was paid of it otherwise than on what it was declared with. */
  readonly paidEuros?: Euros
}

/** The levels below the agents, as they are while those are held. */
export class Levels {
  readonly #runs: ReadonlyMap<string, RunLimit>
  readonly #tokens: ReadonlyMap<string, TokenLimit>
  readonly #delegations: (id: string) => readonly DelegationLimit[]
  /** Of all that is counted. */
  readonly subjects: readonly string[]

  constructor(
    all: readonly Under[],
    runs: ReadonlyMap<string, RunLimit>,
    delegations: (id: string) => readonly DelegationLimit[],
    tokens: ReadonlyMap<string, TokenLimit>,
  ) {
    this.#runs = runs
    this.#delegations = delegations
    this.#tokens = tokens
    this.subjects = all.flatMap(under => this.subjectsOf(under))
  }

  subjectsOf(under: Under): string[] {
    return this.#of(under).map(({ id }) => id)
  }

  /** From the widest to the narrowest, the owner's first. */
  budgetsOf(under: Under, tally: Tally): Budget[] {
    const below = this.#of(under).flatMap(({ limitEuros, paidEuros = 0n, ...level }) =>
      limitEuros === null ? [] : [{ ...level, limitEuros, usedEuros: tally.usedOf(level.id) + paidEuros }],
    )
    return [...tally.ownersBudgets(), ...below]
  }

  /** Whether the run that is named is one of this agent. */
  hasRun({ runId }: Under, agentId: string): boolean {
    return runId === null || this.#runs.get(runId)?.agentId === agentId
  }

  /** Why nothing new is approved there; undefined where something is. */
  obstacleTo({ runId, delegationId }: Under, now: Date): 'run_over' | 'delegation_over' | undefined {
    if (runId && this.#runs.get(runId)?.status !== 'running') return 'run_over'
    const isOver = ({ status, expiresAt }: DelegationLimit): boolean =>
      status === 'revoked' || status === 'expired' || expiresAt <= now
    return delegationId && this.#delegations(delegationId).some(isOver) ? 'delegation_over' : undefined
  }

  /** Nothing that is made under a delegation outlives it. */
  endOf({ delegationId }: Under, end: Date): Date {
    const last = delegationId ? this.#delegations(delegationId).at(-1) : undefined
    return last && last.expiresAt < end ? last.expiresAt : end
  }

  /** From the widest to the narrowest. */
  #of({ runId, delegationId, tokenId }: Under): Level[] {
    const run = runId ? this.#runs.get(runId) : undefined
    const token = tokenId ? this.#tokens.get(tokenId) : undefined
    return [
      ...(run ? [ofRun(run)] : []),
      ...(delegationId ? this.#delegations(delegationId).map(ofDelegation) : []),
      ...(token ? [ofToken(token)] : []),
    ]
  }
}

const ofRun = ({ id, name, budgetEuros: limitEuros }: RunLimit): Level => ({
  level: 'run',
  id,
  name,
  limitEuros,
})

const ofDelegation = ({ id, label, maxAmountEuros: limitEuros, merchant }: DelegationLimit): Level => ({
  level: 'delegation',
  id,
  name: label ?? id,
  limitEuros,
  merchant,
})

const ofToken = ({ id, label: name, maxAmountEuros: limitEuros, paidEuros }: TokenLimit): Level => ({
  paidEuros,
  level: 'token',
  id,
  name,
  limitEuros,
})

/** Only what somebody names is read: most intents name nothing. */
export async function openLevels(sql: Sql, tenant: Tenant, all: readonly Under[]): Promise<Levels> {
  const named = (of: (under: Under) => string | null): string[] => [
    ...new Set(all.flatMap(under => of(under) ?? [])),
  ]
  const runs = await runLimits(
    sql,
    tenant,
    named(({ runId }) => runId),
  )
  const delegations = await delegationLimits(
    sql,
    tenant,
    named(({ delegationId }) => delegationId),
  )
  const tokens = await tokenLimits(
    sql,
    tenant,
    named(({ tokenId }) => tokenId),
  )
  return new Levels(all, runs, delegations, tokens)
}

const UNDER = `
select run_id as "runId", delegation_id as "delegationId", token_id as "tokenId" from intents
where id = any($3::text[]) and (owner_id, mode) = ($1, $2) and num_nonnulls(run_id, delegation_id, token_id) > 0`

/** The same for intents that have been declared: what they are made under never changes. */
export const openLevelsOf = async (sql: Sql, tenant: Tenant, ids: readonly string[]): Promise<Levels> =>
  openLevels(sql, tenant, await sql<Under & Row>(UNDER, [tenant.ownerId, tenant.mode, ids]))
