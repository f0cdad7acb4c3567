import type { Tenant } from '../../kernel/contract/actor.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { addCents, type Cents, NO_CENTS } from '../../values/money.ts'
import { type AgentTokenBudget, readAgentTokenBudgets } from '../agent-tokens/index.ts'
import type { BudgetCounters } from '../budgets/index.ts'
import { type CardTermsRow, cardBudgets, loadCardTerms } from '../card-terms/index.ts'
import { type DelegationLimit, delegationLimits } from '../delegations/index.ts'
import type { BudgetUsage } from '../rules/index.ts'
import { type RunLimit, runLimits } from '../runs/index.ts'

export interface BudgetLevelIds {
  readonly runId: string | null
  readonly delegationId: string | null
  readonly tokenId: string | null
  readonly cardId: string | null
}

/** A budget below the agent's. Without a limit, it only counts. */
interface BudgetLevel extends Omit<BudgetUsage, 'limitCents' | 'usedCents'> {
  readonly limitCents: Cents | null
  readonly paidCents?: Cents
}

type LevelBlocker = 'run_ended' | 'delegation_over' | 'card_closed' | 'card_of_other_intent'

/** The budgets below the agents. They do not change while the agents are locked. */
export class BudgetLevels {
  readonly #runs: ReadonlyMap<string, RunLimit>
  readonly #tokens: ReadonlyMap<string, AgentTokenBudget>
  readonly #delegations: (id: string) => readonly DelegationLimit[]
  readonly #cards: ReadonlyMap<string, CardTermsRow>
  readonly subjects: readonly string[]

  constructor(
    levelIds: readonly BudgetLevelIds[],
    runs: ReadonlyMap<string, RunLimit>,
    delegations: (id: string) => readonly DelegationLimit[],
    tokens: ReadonlyMap<string, AgentTokenBudget>,
    cards: ReadonlyMap<string, CardTermsRow>,
  ) {
    this.#cards = cards
    this.#runs = runs
    this.#delegations = delegations
    this.#tokens = tokens
    this.subjects = levelIds.flatMap(ids => this.subjectsOf(ids))
  }

  subjectsOf(ids: BudgetLevelIds, mandateId?: string): string[] {
    const levels = this.#levelsOf(ids).map(({ id }) => id)
    if (ids.cardId && this.#cards.has(ids.cardId)) levels.push(ids.cardId)
    if (mandateId) levels.push(mandateId)
    return levels
  }

  budgetsOf(ids: BudgetLevelIds, counters: BudgetCounters): BudgetUsage[] {
    const below = this.#levelsOf(ids).flatMap(({ limitCents, paidCents = NO_CENTS, ...level }) =>
      limitCents === null
        ? []
        : { ...level, limitCents, usedCents: addCents(counters.totalUsed(level.id), paidCents) },
    )
    const card = this.cardOf(ids)
    return [...counters.ownerBudgets(), ...below, ...(card ? cardBudgets(card, counters) : [])]
  }

  cardOf({ cardId }: Pick<BudgetLevelIds, 'cardId'>): CardTermsRow | undefined {
    return cardId ? this.#cards.get(cardId) : undefined
  }

  hasCard(ids: BudgetLevelIds, agentId: string): boolean {
    return ids.cardId === null || this.cardOf(ids)?.agentId === agentId
  }

  hasRun({ runId }: BudgetLevelIds, agentId: string): boolean {
    return runId === null || this.#runs.get(runId)?.agentId === agentId
  }

  /** A process trusts a credential for a moment, in which the token may have ended with its open intents. */
  isTokenRevoked({ tokenId }: BudgetLevelIds): boolean {
    return tokenId !== null && this.#tokens.get(tokenId)?.isRevoked === true
  }

  blockerOf(ids: BudgetLevelIds, now: Date, intentId: string | null): LevelBlocker | undefined {
    const { runId, delegationId } = ids
    if (runId && this.#runs.get(runId)?.status !== 'running') return 'run_ended'
    const isOver = ({ status, expiresAt }: DelegationLimit): boolean =>
      status === 'revoked' || status === 'expired' || expiresAt <= now
    if (delegationId && this.#delegations(delegationId).some(isOver)) return 'delegation_over'
    const card = this.cardOf(ids)
    if (card?.status === 'closed') return 'card_closed'
    return card?.intentId && card.intentId !== intentId ? 'card_of_other_intent' : undefined
  }

  /** Bounded by the delegation's expiry, since an intent must not outlive its delegation. */
  cappedExpiry({ delegationId }: BudgetLevelIds, expiresAt: Date): Date {
    const delegation = delegationId ? this.#delegations(delegationId).at(-1) : undefined
    return delegation && delegation.expiresAt < expiresAt ? delegation.expiresAt : expiresAt
  }

  #levelsOf({ runId, delegationId, tokenId }: BudgetLevelIds): BudgetLevel[] {
    const run = runId ? this.#runs.get(runId) : undefined
    const delegations = delegationId ? this.#delegations(delegationId) : []
    const token = tokenId ? this.#tokens.get(tokenId) : undefined
    const levels: BudgetLevel[] = []
    if (run) levels.push({ level: 'run', id: run.id, name: run.name, limitCents: run.budgetCents })
    for (const { id, label, maxAmountCents, merchant } of delegations)
      levels.push({ level: 'delegation', id, name: label ?? id, limitCents: maxAmountCents, merchant })
    if (token) {
      const { id, label, maxAmountCents, paidCents } = token
      levels.push({ level: 'token', id, name: label, limitCents: maxAmountCents, paidCents })
    }
    return levels
  }
}

/** Reads only the levels that are named, since most intents name none. */
export async function loadBudgetLevels(
  sql: Sql,
  tenant: Tenant,
  levelIds: readonly BudgetLevelIds[],
  service: RunningService,
): Promise<BudgetLevels> {
  const idsOf = (kind: keyof BudgetLevelIds): string[] => [
    ...new Set(levelIds.flatMap(ids => ids[kind] ?? [])),
  ]
  const [runs, delegations, tokens, cards] = await Promise.all([
    runLimits(sql, tenant, idsOf('runId')),
    delegationLimits(sql, tenant, idsOf('delegationId')),
    readAgentTokenBudgets(idsOf('tokenId'), { sql, tenant, service }),
    loadCardTerms(sql, tenant, idsOf('cardId')),
  ])
  return new BudgetLevels(levelIds, runs, delegations, tokens, cards)
}

const LEVEL_IDS = `
select run_id as "runId", delegation_id as "delegationId", token_id as "tokenId",
  card_id as "cardId" from intents
where id = any($3::text[]) and (owner_id, mode) = ($1, $2) and num_nonnulls(run_id, delegation_id, token_id, card_id) > 0`

export async function loadBudgetLevelsOfIntents(
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
  service: RunningService,
): Promise<BudgetLevels> {
  const levelIds = await sql<BudgetLevelIds & Row>(LEVEL_IDS, [tenant.ownerId, tenant.mode, ids])
  return loadBudgetLevels(sql, tenant, levelIds, service)
}
