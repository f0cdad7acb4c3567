import type { Actor, TenantNow } from '../../kernel/contract/actor.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { assistantTokenOf } from '../../kernel/database/entity.ts'
import type { PostingCause } from '../../money/ledger/index.ts'
import { addMs } from '../../values/clock.ts'
import type { BudgetCounters } from '../budgets/index.ts'
import { cardControlsFromTerms, compileStoredCardTerms } from '../card-terms/index.ts'
import { AgentMandates } from '../mandates/index.ts'
import { decideSpend, type SpendDecision, type SpendingAgent } from '../policies/index.ts'
import { loadRiskAssessor, type RiskAssessor } from '../risk/index.ts'
import type { SpendRequest } from '../rules/index.ts'
import { type BudgetLevelIds, type BudgetLevels, loadBudgetLevels } from './budget-levels.ts'
import { DUPLICATE_WINDOW_MS, duplicateFingerprint } from './intent.ts'
import { type ResolvedPayee, riskScoredSpend } from './payees.ts'
import type { SpendSource, WalletFunds } from './spend-locks.ts'

export interface ProposedSpend
  extends BudgetLevelIds,
    ResolvedPayee,
    Pick<SpendRequest, 'amountCents' | 'mcc'> {
  readonly agentId: string
  readonly ownMandateId?: string | null | undefined
  readonly approvedOnlyBy?: SpendRequest['approvedOnlyBy']
}

/** All that decides intents. Decisions change it, so each sees what the earlier ones used. */
export interface SpendDecisionContext<F extends WalletFunds = WalletFunds> {
  readonly agents: ReadonlyMap<string, SpendingAgent>
  readonly levels: BudgetLevels
  readonly counters: BudgetCounters
  readonly mandates: AgentMandates
  readonly funds: F
  readonly riskAssessor: RiskAssessor
  readonly duplicates: Map<string, string>
}

/** The agents come first; what is read with the rest does not change while they are locked. */
export async function loadSpendDecisionContext<F extends WalletFunds>(
  source: SpendSource<F>,
  spends: readonly ProposedSpend[],
  service: RunningService,
): Promise<SpendDecisionContext<F>> {
  const { sql, tenantNow } = source
  const [agents, levels] = await Promise.all([
    source.agents(spends.map(({ agentId }) => agentId)),
    loadBudgetLevels(sql, tenantNow.tenant, spends, service),
  ])
  const agentIds = [...agents.keys()]
  const spendsOfAgents = spends.filter(({ agentId }) => agents.has(agentId))
  const fingerprints = spendsOfAgents.flatMap(({ agentId, ...spend }) => {
    const fingerprint = duplicateFingerprint(spend)
    return fingerprint ? { agentId, fingerprint } : []
  })
  const [{ counters, book: funds }, riskAssessor, duplicates] = await Promise.all([
    source.take({
      spending: [...agentIds, ...levels.subjects],
      mandatesOf: agentIds,
      wallets: [...agents.values()].map(({ walletId }) => walletId),
    }),
    loadRiskAssessor(sql, tenantNow, spendsOfAgents),
    findDuplicates(sql, tenantNow, fingerprints),
  ])
  const mandates = new AgentMandates(counters)
  return { agents, levels, counters, mandates, funds, riskAssessor, duplicates }
}

/**
 * The run of the body, otherwise of the header; the card of the body; the delegation of the caller, and its token
 * if that has a budget or is an assistant's.
 */
export const budgetLevelIds = (
  actor: Actor,
  runInHeader: string | null,
  named: Pick<BudgetLevelIds, 'runId' | 'cardId'>,
): BudgetLevelIds => ({
  runId: named.runId ?? runInHeader,
  delegationId: actor.delegationId ?? null,
  tokenId: actor.budgetId ?? assistantTokenOf(actor),
  cardId: named.cardId,
})

/**
 * What may approve in place of a person: for an assistant the mandate of its connection, for a session of the console
 * nothing, since its thief has no passkey.
 */
export function approversOf({
  type,
  ownMandateId,
}: Actor): Pick<ProposedSpend, 'ownMandateId' | 'approvedOnlyBy'> {
  if (type === 'console') return { ownMandateId: null, approvedOnlyBy: 'person' }
  return ownMandateId === undefined ? {} : { ownMandateId, approvedOnlyBy: 'mandate' }
}

export const spendingAgentFor = (
  actor: Actor,
  agentId: string,
  { agents }: SpendDecisionContext,
): SpendingAgent | undefined => {
  const agent = actor.agentId === null || actor.agentId === agentId ? agents.get(agentId) : undefined
  return agent?.status === 'deleted' ? undefined : agent
}

export function budgetLevelBlocker(
  spend: ProposedSpend,
  { levels }: SpendDecisionContext,
  now: Date,
  runInHeader: string | null,
) {
  if (levels.isTokenRevoked(spend)) return 'token_revoked'
  if (runInHeader && spend.runId !== runInHeader) return 'run_mismatch'
  if (!levels.hasRun(spend, spend.agentId)) return 'run_not_found'
  return levels.hasCard(spend, spend.agentId) ? levels.blockerOf(spend, now, null) : 'card_not_found'
}

interface DecidedIntent extends SpendDecision {
  readonly possibleDuplicateOf: string | null
}

export function decideIntentSpend(
  proposed: ProposedSpend,
  agent: SpendingAgent,
  { levels, counters, mandates, funds, riskAssessor, duplicates }: SpendDecisionContext,
  tenantNow: TenantNow,
  subject: PostingCause,
): DecidedIntent {
  const { amountCents, merchant, payeeIban, mcc, country, ownMandateId, approvedOnlyBy } = proposed
  const spend = { amountCents, merchant, payeeIban, mcc, country }
  const fingerprint = duplicateFingerprint(proposed)
  const possibleDuplicateOf = (fingerprint && duplicates.get(fingerprint)) || null
  const card = levels.cardOf(proposed)
  const request = {
    ...spend,
    kind: 'intent' as const,
    card: card ? cardControlsFromTerms(card) : null,
    namedCard: card ? { id: card.id, status: card.status } : null,
    intentId: null,
    approval: null,
    possibleDuplicateOf,
    budgets: levels.budgetsOf(proposed, counters),
    risk: riskAssessor.assess(agent.id, riskScoredSpend(spend)),
    walletFrozen: funds.isFrozen(agent.walletId),
    availableCents: funds.available(agent.walletId),
    approvedOnlyBy,
    ...mandates.covering(agent.id, spend, tenantNow.now, ownMandateId),
  }
  const use = counters.snapshotOf(agent.id, agent.term)
  const terms = card ? compileStoredCardTerms(card) : null
  const decided = decideSpend(agent, request, use, tenantNow, subject, terms)
  return { ...decided, possibleDuplicateOf }
}

interface AgentFingerprint {
  readonly agentId: string
  readonly fingerprint: string
}

/**
 * Repeats the condition of the index on fingerprints (stored as `likeness`). An intent that was denied,
 * cancelled or has expired is not a duplicate.
 */
const LATEST = `
select w.likeness as fingerprint, latest.id
from unnest($1::text[], $2::text[]) as w (agent_id, likeness)
cross join lateral (
  select i.id from intents i
  where i.owner_id = $4 and i.mode = $5 and i.agent_id = w.agent_id and i.likeness = w.likeness and i.created_at > $3
    and i.status in ('created', 'approved', 'completed')
  order by i.created_at desc limit 1) as latest`

async function findDuplicates(
  sql: Sql,
  { tenant: { ownerId, mode }, now }: TenantNow,
  fingerprints: readonly AgentFingerprint[],
): Promise<Map<string, string>> {
  if (fingerprints.length === 0) return new Map()
  const unique = [...new Map(fingerprints.map(row => [row.fingerprint, row])).values()]
  const rows = await sql<Row & { fingerprint: string; id: string }>(LATEST, [
    unique.map(({ agentId }) => agentId),
    unique.map(({ fingerprint }) => fingerprint),
    addMs(now, -DUPLICATE_WINDOW_MS),
    ownerId,
    mode,
  ])
  return new Map(rows.map(({ fingerprint, id }) => [fingerprint, id]))
}
