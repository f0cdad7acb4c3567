import { z } from 'zod'
import type { Failure } from '../../kernel/contract/operation.ts'
import { missing } from '../../kernel/contract/operation.ts'
import { inDigits, wholeNumber } from '../../kernel/contract/page.ts'
import { span_invalid, spanQuery } from './span.ts'

/** The query of a report: its days, and what else it takes. */
export const ofSpan = <S extends z.ZodRawShape>(more: S) => z.strictObject({ ...spanQuery, ...more })

export const fails = {
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

const day = z.string().meta({ examples: ['2026-11-01'] })

export const answerSpan = {
  from: day.meta({ description: 'The first day, in UTC.' }),
  to: day.meta({ description: 'The last day, in UTC.' }),
}

/** How many groups are told one by one: the rest is summed. */
export const bound = inDigits(wholeNumber(1, 100).default(20)).meta({
  description: 'How many groups are told one by one; the rest is `other`.',
})
