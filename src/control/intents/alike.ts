import { after } from '../../kernel/clock.ts'
import type { Row, Sql } from '../../kernel/database.ts'
import { ALIKE_FOR } from './intent.ts'

/** An agent, and the likeness of an intent of it. */
export interface Alike {
  readonly agentId: string
  readonly likeness: string
}

export const nameOf = ({ agentId, likeness }: Alike): string => `${agentId} ${likeness}`

/** In the words of the index over them: of intents that came to nothing a second one is no double. */
const ALIKE = `
select w.agent_id as "agentId", w.likeness, latest.id
from unnest($1::text[], $2::text[]) as w (agent_id, likeness)
cross join lateral (
  select i.id from intents i
  where i.agent_id = w.agent_id and i.likeness = w.likeness and i.created_at > $3
    and i.status in ('created', 'approved', 'completed')
  order by i.created_at desc limit 1) as latest`

/** The latest intent like each of these, by name, where there has been one lately. Their agents are locked. */
export async function alikeOf(sql: Sql, wanted: readonly Alike[], now: Date): Promise<Map<string, string>> {
  const each = [...new Map(wanted.map(one => [nameOf(one), one])).values()]
  const found = await sql<Alike & Row & { id: string }>(ALIKE, [
    each.map(({ agentId }) => agentId),
    each.map(({ likeness }) => likeness),
    after(now, -ALIKE_FOR),
  ])
  return new Map(found.map(one => [nameOf(one), one.id]))
}
