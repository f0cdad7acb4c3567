import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import type { DecisionRow } from './stored-decision.ts'

/** The decisions made at `from` or later and before `to`, of one agent or of all. */
export interface DecisionSpan {
  readonly from: Date
  readonly to: Date
  readonly agentId?: string | undefined
}

/** A decision as it was made, and the part of its amount that still counts. */
export interface RecordedDecision extends Row, Pick<DecisionRow, 'request' | 'counters'> {
  readonly id: string
  readonly agentId: string
  readonly subjectType: string
  readonly subjectId: string
  readonly at: Date
  readonly allowed: boolean
  readonly requiresApproval: boolean
  readonly reason: string
  /** The rule that gave the reason; null if no rule objected. */
  readonly rule: string | null
  /** The mandate that has approved it in place of a person. */
  readonly mandateId: string | null
  /** The amount reserved or spent for the subject now, after everything that was given back. */
  readonly usedEuros: Euros
}

/** How many decisions one statement reads: it stays short, and few are in memory. */
const PAGE = 500

/** A subquery looks each reservation up by its whole key; for a join PostgreSQL might read the whole table. */
const SELECT_DECISIONS = `
select d.id, d.agent_id as "agentId", d.subject_type as "subjectType", d.subject_id as "subjectId",
  d.created_at as at, d.request, d.counters, s.allowed, s."requiresApproval", s.reason,
  case when s."requiresApproval" or not s.allowed
    then jsonb_path_query_first(d.result, '$.checks[*] ? (@.message == $.reason)') ->> 'rule' end as rule,
  d.result -> 'mandate' ->> 'id' as "mandateId",
  coalesce((select r.reserved_cents + r.spent_cents from reservations r
    where (r.owner_id, r.mode, r.cause_type, r.cause_id) = ($1, $2, d.subject_type, d.subject_id)), 0) as "usedEuros"`

/** What was asked is not forgotten, and can be decided once more. */
const KNOWN = "d.request <> '{}'"

const WITH_RESULT =
  'cross join lateral jsonb_to_record(d.result) as s (allowed boolean, "requiresApproval" boolean, reason text)'

const PAGE_OF_AGENT = `${SELECT_DECISIONS}
from decisions d ${WITH_RESULT}
where d.owner_id = $1 and d.mode = $2 and d.agent_id = $4 and ${KNOWN} and (d.created_at, d.id) > ($5, $6) and d.created_at < $3
order by d.created_at, d.id limit ${PAGE}`

/** The lateral join reads each agent's decisions by their index, and only those of the span. */
const PAGE_OF_ALL = `${SELECT_DECISIONS}
from agents a
cross join lateral (
  select * from decisions d
  where d.owner_id = $1 and d.mode = $2 and d.agent_id = a.id collate "default" and d.created_at < $3 and ${KNOWN}
    and (d.created_at, d.id) > (case when a.id = $4 then $5::timestamptz else $7 end, case when a.id = $4 then $6 else '' end)
  order by d.created_at, d.id limit ${PAGE}) as d ${WITH_RESULT}
where a.owner_id = $1 and a.mode = $2 and a.id >= $4
order by a.id, d.created_at, d.id limit ${PAGE}`

/** Reads the decisions of a span in pages: agent by agent, and each agent's by time. */
export async function* recordedDecisions(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { from, to, agentId }: DecisionSpan,
): AsyncGenerator<RecordedDecision[]> {
  let last = { agentId: agentId ?? '', at: from, id: '' }
  while (true) {
    const values = [ownerId, mode, to, last.agentId, last.at, last.id]
    const page = agentId
      ? await sql<RecordedDecision>(PAGE_OF_AGENT, values)
      : await sql<RecordedDecision>(PAGE_OF_ALL, [...values, from])
    yield page
    const end = page.at(-1)
    if (!end || page.length < PAGE) return
    last = end
  }
}
