import { findAgent } from '../../control/agents/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { File } from '../../kernel/contract/file.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { dayOf } from '../../values/clock.ts'
import { type CsvColumns, csvOf } from '../../values/csv.ts'
import type { Span } from '../spend/index.ts'
import { addDays, spanOf } from './span.ts'

interface Wished {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly agentId?: string | undefined
}

type Asking = Pick<Context<'span_invalid' | 'agent_not_found'>, 'actor' | 'records' | 'now' | 'refuse'>

/** What a report is about. */
export interface ReportScope extends Span {
  /** Undefined: the whole tenant. */
  readonly agentId: string | undefined
}

/** The scope with its days as far as they are known: of what is to come nothing is late, and no pace can be told. */
export interface KnownScope extends ReportScope {
  /** The day after today, where the span goes further; else `before`. */
  readonly knownBefore: string
}

/**
 * The days and the agent of a report. An agent's token reports on its agent alone. A delegation's token reaches single
 * records of its agent: the sums would tell it of others.
 */
export async function scopeOf(
  wished: Wished,
  { actor, records, now, refuse }: Asking,
): Promise<KnownScope | Refusal> {
  const span = spanOf(wished, now)
  if (typeof span === 'string') return refuse('span_invalid', span)
  if (actor.delegationId)
    return refuse(
      'agent_not_found',
      'A delegation’s token reaches what was made with it, not the sums of its agent.',
    )
  const agentId = wished.agentId ?? actor.agentId ?? undefined
  if (wished.agentId !== undefined && !(await findAgent(records, wished.agentId)))
    return refuse('agent_not_found')
  const tomorrow = addDays(dayOf(now), 1)
  return { ...span, agentId, knownBefore: span.before < tomorrow ? span.before : tomorrow }
}

/** The days as answers repeat them. */
export const shownSpan = ({ from, before }: Span) => ({ from, to: addDays(before, -1) })

const OF_AGENTS = 'select id, name from agents where owner_id = $1 and mode = $2 and id = any($3::text[])'

/** The names of agents, deleted ones too: what they have spent stays theirs. */
export async function namesOfAgents(
  { sql, tenant: { ownerId, mode } }: { readonly sql: Sql; readonly tenant: Tenant },
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; name: string }>(OF_AGENTS, [ownerId, mode, ids])
  return new Map(rows.map(({ id, name }) => [id, name]))
}

/** A report as a file to save. */
export function tableFile<T>(report: string, span: Span, columns: CsvColumns<T>, rows: readonly T[]): File {
  const { from, to } = shownSpan(span)
  return {
    type: 'text/csv; charset=utf-8; header=present',
    name: `${report}-${from}-${to}.csv`,
    content: csvOf(columns, rows),
  }
}
