import type { Actor } from '../../kernel/contract/actor.ts'
import type { FollowedEvent } from '../../kernel/contract/follow.ts'

interface Filters {
  readonly event?: string | undefined
  readonly agentId?: string | undefined
}

/** Whether the caller sees an event in its stream: the conditions of the list, for one event in memory. */
export const visibleTo =
  ({ agentId, delegationId }: Pick<Actor, 'agentId' | 'delegationId'>, filters: Filters) =>
  ({ event, agentId: of, data }: FollowedEvent): boolean =>
    (agentId === null || of === agentId) &&
    (!delegationId || data.delegationId === delegationId) &&
    (filters.event === undefined || event === filters.event) &&
    (filters.agentId === undefined || of === filters.agentId)
