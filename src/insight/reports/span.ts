import { z } from 'zod'
import { type Failure, missing } from '../../kernel/contract/operation.ts'
import { inDigits, wholeNumber } from '../../kernel/contract/page.ts'
import { dayOf } from '../../values/clock.ts'
import type { Span } from '../spend/index.ts'

const DAY_MS = 86_400_000
const DEFAULT_DAYS = 30
/** Two years, one of them a leap year. */
const MOST_DAYS = 731

const day = (words: string) =>
  z.iso
    .date('a day is written YYYY-MM-DD')
    .max(10)
    .refine(text => text >= '1970-01-01' && text < '9999', 'a year from 1970 to 9998')
    .optional()
    .meta({ description: words, examples: ['2026-11-01'] })

/** The days of a report, as all of them take it. */
const spanQuery = {
  from: day('The first day, in UTC. Left out: 30 days up to `to`.'),
  to: day('The last day, in UTC, included; at most two years after `from`. Left out: today.'),
}

interface Wished {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const addDays = (from: string, count: number): string =>
  dayOf(new Date(Date.parse(from) + count * DAY_MS))
export const daysBetween = (from: string, before: string): number =>
  (Date.parse(before) - Date.parse(from)) / DAY_MS

const span_invalid = [400, 'to: must not be before from.'] as const

/** The days that are asked for, or what is wrong with them. */
export function spanOf({ from, to }: Wished, now: Date): Span | string {
  const last = to ?? dayOf(now)
  const first = from ?? addDays(last, 1 - DEFAULT_DAYS)
  if (first > last)
    return to === undefined
      ? `from: must not be after today, ${last}.`
      : `to: must not be before from, ${first}.`
  if (daysBetween(first, last) >= MOST_DAYS)
    return `from: a report covers two years at most, so begin at ${addDays(last, 1 - MOST_DAYS)} or later.`
  return { from: first, before: addDays(last, 1) }
}

/** The span of the same length right before. */
export const spanBefore = ({ from, before }: Span): Span => ({
  from: addDays(from, -daysBetween(from, before)),
  before: from,
})

/** The query of a report: its days, and what else it takes. */
export const ofSpan = <S extends z.ZodRawShape>(more: S) => z.strictObject({ ...spanQuery, ...more })

const fails = {
  span_invalid,
  agent_not_found: missing('agent'),
} as const satisfies Record<string, Failure>

/** What all reports have in common: they read by the tenant's clock, agents for themselves. */
export const reading = {
  callers: ['key', 'agent'],
  scope: 'insight:read',
  readsClock: true,
  fails,
} as const

const answerDay = z.string().meta({ examples: ['2026-11-01'] })

export const answerSpan = {
  from: answerDay.meta({ description: 'The first day, in UTC.' }),
  to: answerDay.meta({ description: 'The last day, in UTC.' }),
}

/** How many groups are told one by one: the rest is summed. */
export const bound = inDigits(wholeNumber(1, 100).default(20)).meta({
  description: 'How many groups are told one by one; the rest is `other`.',
})
