import type { Tenant } from '../../kernel/context.ts'
import type { Row, Sql } from '../../kernel/database.ts'
import type { Euros } from '../../kernel/money.ts'
import type { DecisionRow } from './stored-decision.ts'

export interface Span {
  readonly from: Date
  readonly to: Date
  readonly agentId?: string | undefined
}

/** A decision as it was made, and what has come of it. */
export interface Recorded extends Row, Pick<DecisionRow, 'request' | 'counters'> {
  readonly id: string
  readonly agentId: string
  readonly subjectType: string
  readonly subjectId: string
  readonly at: Date
  readonly allowed: boolean
  readonly requiresApproval: boolean
  readonly reason: string
  /** The rule that gave the reason; null where nothing was against it. */
  readonly rule: string | null
  /** What its subject still takes of the limits: what was given back is not in it. */
  readonly kept: Euros
}

/** So many at once: no statement takes long, and not many are in memory. */
const PAGE = 1_000

/** Each reservation is looked up by its whole key, whatever PostgreSQL knows of the table: a join may not. */
const pageWhere = (next: string): string => `
select d.id, d.agent_id as "agentId", d.subject_type as "subjectType", d.subject_id as "subjectId",
  d.created_at as at, d.request, d.counters, s.allowed, s."requiresApproval", s.reason,
  case when s."requiresApproval" or not s.allowed
    then jsonb_path_query_first(d.result, '$.checks[*] ? (@.message == $.reason)') ->> 'rule' end as rule,
  coalesce((select r.reserved_cents + r.spent_cents from reservations r
    where (r.owner_id, r.mode, r.cause_type, r.cause_id) = ($1, $2, d.subject_type, d.subject_id)), 0) as kept
from decisions d
cross join lateral jsonb_to_record(d.result) as s (allowed boolean, "requiresApproval" boolean, reason text)
where d.owner_id = $1 and d.mode = $2 and ${next} and d.created_at < $3
order by d.agent_id, d.created_at, d.id limit ${PAGE}`

const OF_ONE = pageWhere('d.agent_id = $4 and (d.created_at, d.id) > ($5, $6)')
const OF_ALL = pageWhere('(d.agent_id, d.created_at, d.id) > ($4, $5, $6) and d.created_at >= $7')

/** Agent by agent, each in the order of time, page by page. */
export async function* recordedIn(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { from, to, agentId }: Span,
): AsyncGenerator<Recorded[]> {
  let last = { agentId: agentId ?? '', at: from, id: '' }
  while (true) {
    const values = [ownerId, mode, to, last.agentId, last.at, last.id]
    const page = agentId
      ? await sql<Recorded>(OF_ONE, values)
      : await sql<Recorded>(OF_ALL, [...values, from])
    yield page
    const end = page.at(-1)
    if (!end || page.length < PAGE) return
    last = end
  }
}
