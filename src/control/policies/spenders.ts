import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { ApprovalStep } from '../../values/approval-steps.ts'
import { memoizeByWeight } from '../../values/bounded-cache.ts'
import { newId } from '../../values/ids.ts'
import type { Cents } from '../../values/money.ts'
import type { Agent } from '../agents/index.ts'
import {
  type DecisionRow,
  encodeDecisionCounters,
  encodeDecisionRequest,
  encodeRuling,
} from '../decisions/index.ts'
import {
  type ApprovingMandate,
  type CompiledPolicy,
  compilePolicy,
  decideSpendByRules,
  type PolicyRules,
  pickPolicyRules,
  policyRuleNames,
  type RiskResult,
  type SpendCounters,
  type SpendRequest,
  type SpendRuling,
} from '../rules/index.ts'

export interface SpendingAgent {
  readonly id: string
  readonly agentName: string
  readonly status: Agent['status']
  readonly walletId: string
  readonly policyId: string | null
  readonly policyVersion: number | null
  readonly policyEndsAt: Date | null
  /** When the policy was assigned, from which on uses are counted. */
  readonly term: Date | null
  readonly policy: CompiledPolicy
}

/** The steps of people that the agent’s policy asks. */
export const approvalStepsOf = ({ policy }: Pick<SpendingAgent, 'policy'>): readonly ApprovalStep[] =>
  policy.terms?.approval ?? []

/** The policy in force that asks people for the smallest amounts. */
export interface AskingPolicy {
  readonly id: string
  readonly name: string
  readonly agentId: string
  /** People are asked for amounts above this. */
  readonly aboveCents: Cents
}

/** Repeats the expression and the condition of its partial index exactly; the first step of a policy is its lowest. */
const FIRST_ASKING = `
select id, name, agent_id as "agentId", (approval -> 0 ->> 'aboveCents')::bigint as "aboveCents" from policies
where (owner_id, mode) = ($1, $2) and agent_id is not null and deleted_at is null and approval <> '[]'
order by (approval -> 0 ->> 'aboveCents')::bigint limit 1`

/** Money that leaves the owner without an intent needs the steps of every policy in force, so the lowest one decides. */
export async function findFirstAskingPolicy(
  sql: Sql,
  { ownerId, mode }: Tenant,
): Promise<AskingPolicy | undefined> {
  const [policy] = await sql<AskingPolicy & Row>(FIRST_ASKING, [ownerId, mode])
  return policy
}

/** An approved intent does not outlive a policy whose end stops all spending, since transfers pay it without the rules. */
export const cappedByPolicy = (
  { policy, policyEndsAt }: Pick<SpendingAgent, 'policy' | 'policyEndsAt'>,
  expiresAt: Date,
): Date => {
  const stops = policyEndsAt !== null && policy.terms?.expirationAction !== 'notify'
  return stops && policyEndsAt < expiresAt ? policyEndsAt : expiresAt
}

interface SpenderRow extends Row, PolicyRules, Omit<SpendingAgent, 'policy'> {}

const columnOf = (rule: string): string => rule.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const selectSpenders = (ids: string): string => `
select a.id, a.name as "agentName", a.status, a.wallet_id as "walletId", p.id as "policyId", p.version as "policyVersion",
  p.expires_at as "policyEndsAt", p.assigned_at as term, ${policyRuleNames.map(rule => `p.${columnOf(rule)} as "${rule}"`).join(', ')}
from agents a
left join lateral (
  select * from policies one where (one.owner_id, one.mode, one.id) = ($1, $2, a.policy_id) and one.deleted_at is null limit 1
) as p on true
where a.owner_id = $1 and a.mode = $2 and a.id = any(${ids})
order by a.id`

type SpenderQuery = (
  sql: Sql,
  tenant: Tenant,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, SpendingAgent>>

const spenderQuery =
  (statement: string): SpenderQuery =>
  async (sql, { ownerId, mode }, ids) => {
    const rows = await sql<SpenderRow>(statement, [ownerId, mode, [...new Set(ids)]])
    return new Map(rows.map(row => [row.id, { ...row, policy: compiledPolicyOf(row) }]))
  }

/**
 * An exclusive lock costs nothing here, since the counters admit only one batch of an agent at a time anyway.
 * With shared locks, a freeze would never get the lock in a burst of spends.
 */
const LOCK_AGENTS = 'for no key update of a'

export const findSpendingAgents = spenderQuery(selectSpenders('$3::text[]'))

/**
 * Until the transaction ends, only the caller may freeze them. The agents are named by SQL, with the owner as `$1`, the
 * mode as `$2` and the ids that the caller gives as `$3`.
 */
export const spenderLock = (agents: string): SpenderQuery =>
  spenderQuery(`${selectSpenders(agents)} ${LOCK_AGENTS}`)

export const lockSpendingAgents = spenderLock('$3::text[]')

/** Bounds the cache by the list entries of all cached policies. A name with all its match forms takes a kilobyte. */
const MAX_CACHED_ENTRIES = 50_000
const BASE_ENTRIES = 10
const noPolicy = compilePolicy(null)

const entriesIn = ({ terms }: CompiledPolicy): number =>
  Object.values(terms ?? {}).reduce(
    (sum, rule) => sum + (Array.isArray(rule) ? rule.length : 0),
    BASE_ENTRIES,
  )

const compiledPolicies = memoizeByWeight(MAX_CACHED_ENTRIES, entriesIn)

/** A version of a policy never changes, so it is compiled once. */
function compiledPolicyOf(row: SpenderRow): CompiledPolicy {
  if (row.policyId === null) return noPolicy
  return compiledPolicies(`${row.policyId}@${row.policyVersion}`, () => compilePolicy(pickPolicyRules(row)))
}

export interface PolicyDecision extends Omit<SpendRuling, 'holdCents' | 'mandate'> {
  readonly id: string
  readonly policyId: string | null
  readonly policyVersion: number | null
  readonly riskScore: number | null
  /** The signals behind the score. The API shows only the score. */
  readonly risk?: RiskResult | null
  /** Missing in decisions of earlier versions. */
  readonly mandate?: ApprovingMandate | null
}

type SpendDetails = Omit<SpendRequest, 'at' | 'agentStatus' | 'policyEndsAt'>

export interface SpendDecision {
  readonly ruling: SpendRuling
  readonly decision: PolicyDecision
  readonly row: DecisionRow
}

/** Stores nothing; the caller inserts the row. */
export function decideSpend(
  spender: SpendingAgent,
  details: SpendDetails,
  counters: SpendCounters,
  { tenant, now }: TenantNow,
  subject: { readonly type: string; readonly id: string },
  card?: CompiledPolicy | null,
): SpendDecision {
  const { policyId, policyVersion, policyEndsAt, status: agentStatus, id: agentId } = spender
  const request = { ...details, at: now, agentStatus, policyEndsAt }
  const ruling = decideSpendByRules(spender.policy, request, counters, card)
  const { holdCents: _, ...shownRuling } = ruling
  const id = newId('decision')
  const { risk } = details
  const riskScore = risk?.score ?? null
  const { mandate = null } = ruling
  const decision = { id, ...shownRuling, policyId, policyVersion, riskScore, risk, mandate }
  const row: DecisionRow = {
    ...tenant,
    id,
    createdAt: now,
    updatedAt: now,
    agentId,
    policyId,
    policyVersion,
    subjectType: subject.type,
    subjectId: subject.id,
    request: encodeDecisionRequest(request),
    counters: encodeDecisionCounters(counters),
    result: encodeRuling(ruling),
  }
  return { ruling, decision, row }
}
