import type { FilterQuery } from '@mikro-orm/core'
import type { Tenant } from '../contract/actor.ts'
import type { RowSource } from '../contract/conditions.ts'
import type { ReadContext } from '../contract/context.ts'
import type { RecordPage } from '../contract/page.ts'
import { pageOfSource } from '../database/page-of-source.ts'
import { Event } from './event.ts'

/** What the events of a call share: the indexes of these columns have an entry for the first event only. */
const shared = {
  requestId: { column: 'request_id', isRepeated: 'same_request' },
  resourceId: { column: 'resource_id', isRepeated: 'same_resource' },
  agentId: { column: 'agent_id', isRepeated: 'same_agent' },
} as const

type SharedMember = keyof typeof shared

/** SQL: the events of a call from `first` on have ids that differ in the last two digits. */
export const withinCallSql = (id: string, first: string): string =>
  `${id} >= ${first} and ${id} < left(${first}, -2) || '~'`

interface Led {
  readonly by: SharedMember
  readonly value: string
  readonly tenant: Tenant
  /** Bounds that hold for all events of a call or for none, and the last event of the page before. */
  readonly bounds: readonly (readonly [sign: '<' | '>=', id: string])[]
}

/** The newest events first, found by the first one of each call. */
function sourceLedBy({ by, value, tenant, bounds }: Led): RowSource {
  const { column, isRepeated } = shared[by]
  const of = [tenant.ownerId, tenant.mode]
  const sql = `
select one.*, first.first_id from (
  select id as first_id from events
  where owner_id = ? and mode = ? and ${column} = ? and not ${isRepeated}${bounds.map(([sign]) => ` and id ${sign} ?`).join('')}
) first cross join lateral (
  select * from events
  where owner_id = ? and mode = ? and ${withinCallSql('id', 'first_id')} and (id = first_id or ${isRepeated}) offset 0
) one`
  return {
    sql,
    values: [...of, value, ...bounds.map(([, id]) => id), ...of],
    orderBy: 'first_id desc, id desc',
  }
}

export interface EventFilters {
  readonly requestId?: string | null | undefined
  readonly resourceId?: string | null | undefined
  readonly agentId?: string | null | undefined
  readonly id?: { readonly $gte?: string; readonly $lt?: string } | undefined
}

/** A page of events, of which all have these members and meet the condition. */
export function pageOfEvents(
  context: ReadContext,
  condition: FilterQuery<Event>,
  filters: EventFilters,
): Promise<RecordPage<Event>> {
  const by = (Object.keys(shared) as SharedMember[]).find(member => filters[member])
  const value = by && filters[by]
  if (!by || !value) return context.page(Event, condition)
  const { $gte: gte, $lt: lt } = filters.id ?? {}
  return pageOfSource(context, Event, condition, after => {
    const before = [lt, after].flatMap(id => (id ? [['<', id] as const] : []))
    const bounds = gte ? [...before, ['>=', gte] as const] : before
    return sourceLedBy({ by, value, tenant: context.tenant, bounds })
  })
}
