import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { weightedCache } from '../../values/bounded-cache.ts'
import { newId } from '../../values/ids.ts'
import type { Agent } from '../agents/index.ts'
import { type DecisionRow, keptCounters, keptRequest, keptRuling } from '../decisions/index.ts'
import {
  type Compiled,
  type Counters,
  compile,
  decide,
  type Risk,
  type Rules,
  type Ruling,
  ruleNames,
  rulesOf,
  type SpendRequest,
} from '../rules/index.ts'

/** An agent that may spend, with the policy that it spends under at this moment. */
export interface Spender {
  readonly id: string
  readonly status: Agent['status']
  readonly walletId: string
  readonly policyId: string | null
  readonly policyVersion: number | null
  readonly policyEndsAt: Date | null
  /** Since when its uses are counted. */
  readonly term: Date | null
  readonly policy: Compiled
}

interface SpenderRow extends Row, Rules, Omit<Spender, 'policy'> {}

const snake = (name: string): string => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
const columnOf = (rule: string): string => snake(rule.replace(/Euros$/, 'Cents'))

/**
 * The agents of an array that the second line makes of `$3`. Their counters let only one batch at a time pass anyway;
 * of locks that are shared, whoever wants to freeze an agent in a burst would never see the last one go.
 */
const spendersIn = (ids: string): string => `
select a.id, a.status, a.wallet_id as "walletId", p.id as "policyId", p.version as "policyVersion",
  p.expires_at as "policyEndsAt", p.assigned_at as term, ${ruleNames.map(rule => `p.${columnOf(rule)} as "${rule}"`).join(', ')}
from agents a
left join policies p on p.id = a.policy_id and p.deleted_at is null
where a.owner_id = $1 and a.mode = $2 and a.id = any(${ids})
order by a.id`

type Found = (sql: Sql, tenant: Tenant, ids: readonly string[]) => Promise<ReadonlyMap<string, Spender>>

const finding =
  (statement: string): Found =>
  async (sql, { ownerId, mode }, ids) => {
    const rows = await sql<SpenderRow>(statement, [ownerId, mode, [...new Set(ids)]])
    return new Map(rows.map(row => [row.id, { ...row, policy: compiledFor(row) }]))
  }

const locking = (ids: string): Found => finding(`${spendersIn(ids)} for no key update of a`)

/** Of these ids, as they are at this moment. */
export const findSpenders = finding(spendersIn('$3::text[]'))

/** Of these ids: nobody else freezes them until the transaction ends, and it can do so itself. */
export const lockSpenders = locking('$3::text[]')

/** Those to whom these records belong. */
export const lockSpendersOf = (table: 'intents'): Found =>
  locking(`array(select agent_id from ${table} where id = any($3::text[]))`)

/** So many entries of lists: a name that is matched in all its forms takes a kilobyte. */
const MOST_COMPILED = 50_000
const FEW_ENTRIES = 10
const noPolicy = compile(null)

/** A policy without lists takes as much as some entries. */
const entriesIn = ({ terms }: Compiled): number =>
  Object.values(terms ?? {}).reduce((sum, rule) => sum + (Array.isArray(rule) ? rule.length : 0), FEW_ENTRIES)

const compiled = weightedCache(MOST_COMPILED, entriesIn)

/** A version never changes, so what was made of it serves for ever. */
function compiledFor(row: SpenderRow): Compiled {
  if (row.policyId === null) return noPolicy
  return compiled(`${row.policyId}@${row.policyVersion}`, () => compile(rulesOf(row)))
}

/** A decision as its record shows it. */
export interface Decision extends Omit<Ruling, 'holdEuros'> {
  readonly id: string
  readonly policyId: string | null
  readonly policyVersion: number | null
  readonly riskScore: number | null
  /** What that score is made of; a decision shows the score alone. */
  readonly risk?: Risk | null
}

type Asked = Omit<SpendRequest, 'at' | 'agentStatus' | 'policyEndsAt'>

/** What is decided, as it is shown, and the row that makes it replay. */
export interface Decided {
  readonly ruling: Ruling
  readonly decision: Decision
  readonly row: DecisionRow
}

export function decideFor(
  spender: Spender,
  asked: Asked,
  counters: Counters,
  { tenant, now }: TenantNow,
  subject: { readonly type: string; readonly id: string },
): Decided {
  const { policyId, policyVersion, policyEndsAt, status: agentStatus, id: agentId } = spender
  const request = { ...asked, at: now, agentStatus, policyEndsAt }
  const ruling = decide(spender.policy, request, counters)
  const { holdEuros: _, ...shown } = ruling
  const id = newId('decision')
  const { risk } = asked
  const decision = { id, ...shown, policyId, policyVersion, riskScore: risk?.score ?? null, risk }
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
    request: keptRequest(request),
    counters: keptCounters(counters),
    result: keptRuling(ruling),
  }
  return { ruling, decision, row }
}
