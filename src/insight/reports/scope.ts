import { findAgent } from '../../control/agents/index.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import { dayOf } from '../../values/clock.ts'
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
