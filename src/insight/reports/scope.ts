import { z } from 'zod'
import { findAgent } from '../../control/agents/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { CsvFile } from '../../kernel/contract/csv-file.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { digitsAsNumber, integerSchema } from '../../kernel/contract/page.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { utcDay } from '../../values/clock.ts'
import { type CsvColumns, renderCsv } from '../../values/csv.ts'
import type { DaySpan } from '../spend/index.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
/** In days: two years, one of them a leap year. */
const MOST_DAYS = 731

const day = (words: string) =>
  z.iso
    .date('a day is written YYYY-MM-DD')
    .max(10)
    .refine(text => text >= '1970-01-01' && text < '9999', 'a year from 1970 to 9998')
    .optional()
    .meta({ description: words, examples: ['2026-11-01'] })

const spanQuery = {
  from: day('The first day, in UTC. Default: 30 days up to `to`.'),
  to: day('The last day, in UTC, inclusive; at most two years after `from`. Default: today.'),
}

interface SpanQuery {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const addDays = (from: string, count: number): string =>
  utcDay(new Date(Date.parse(from) + count * DAY_MS))
export const daysBetween = (from: string, before: string): number =>
  (Date.parse(before) - Date.parse(from)) / DAY_MS

const span_invalid = [400, 'to: must not be before from.'] as const

function spanOf({ from, to }: SpanQuery, now: Date): DaySpan | string {
  const last = to ?? utcDay(now)
  const first = from ?? addDays(last, 1 - DEFAULT_DAYS)
  if (first > last)
    return to === undefined
      ? `from: must not be after today, ${last}.`
      : `to: must not be before from, ${first}.`
  if (daysBetween(first, last) >= MOST_DAYS)
    return `from: a report covers at most two years. Begin at ${addDays(last, 1 - MOST_DAYS)} or later.`
  return { from: first, before: addDays(last, 1) }
}

export const previousSpan = ({ from, before }: DaySpan): DaySpan => ({
  from: addDays(from, -daysBetween(from, before)),
  before: from,
})

export const reportQuery = <S extends z.ZodRawShape>(more: S) => z.strictObject({ ...spanQuery, ...more })

const fails = {
  span_invalid,
  agent_not_found: notFound('agent'),
} as const satisfies Record<string, RefusalSpec>

/** Reports use the tenant's clock. Agents read only their own reports. */
export const reportAccess = {
  callers: ['key', 'agent'],
  scope: 'insight:read',
  readsClock: true,
  isReport: true,
  fails,
} as const

const answerDay = z.string().meta({ examples: ['2026-11-01'] })

export const reportSpanMembers = {
  from: answerDay.meta({ description: 'The first day, in UTC.' }),
  to: answerDay.meta({ description: 'The last day, in UTC.' }),
}

export const groupLimitSchema = digitsAsNumber(integerSchema(1, 100).default(20)).meta({
  description: 'The number of listed groups; the rest is `other`.',
})

interface ScopeQuery {
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly agentId?: string | undefined
}

type ScopeContext = Context<'span_invalid' | 'agent_not_found'>

export interface ReportScope extends DaySpan {
  readonly agentId: string | undefined
}

/** Future days are unknown, so nothing is late in them, and they show no pace. */
export interface ReportScopeUntilToday extends ReportScope {
  readonly knownBefore: string
}

/**
 * An agent's token reports only on its agent. A delegation's token reads single records of its agent, but no
 * sums, which would include those of others.
 */
export async function resolveReportScope(
  wished: ScopeQuery,
  { actor, em, now, refuse }: ScopeContext,
): Promise<ReportScopeUntilToday | Refusal> {
  const span = spanOf(wished, now)
  if (typeof span === 'string') return refuse('span_invalid', span)
  if (actor.delegationId)
    return refuse(
      'agent_not_found',
      'A delegation’s token can read only its own records, not the totals of its agent.',
    )
  const agentId = wished.agentId ?? actor.agentId ?? undefined
  if (wished.agentId !== undefined && !(await findAgent(em, wished.agentId))) return refuse('agent_not_found')
  const tomorrow = addDays(utcDay(now), 1)
  return { ...span, agentId, knownBefore: span.before < tomorrow ? span.before : tomorrow }
}

export const inclusiveSpan = ({ from, before }: DaySpan) => ({ from, to: addDays(before, -1) })

const OF_AGENTS = 'select id, name from agents where owner_id = $1 and mode = $2 and id = any($3::text[])'

export async function readAgentNames(
  { sql, tenant: { ownerId, mode } }: { readonly sql: Sql; readonly tenant: Tenant },
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ id: string; name: string }>(OF_AGENTS, [ownerId, mode, ids])
  return new Map(rows.map(({ id, name }) => [id, name]))
}

export function csvReportFile<T>(
  report: string,
  span: DaySpan,
  columns: CsvColumns<T>,
  rows: readonly T[],
): CsvFile {
  const { from, to } = inclusiveSpan(span)
  return new CsvFile(`${report}-${from}-${to}.csv`, renderCsv(columns, rows))
}
