import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { after } from '../../values/clock.ts'
import { ALIKE_FOR } from './intent.ts'

/** An agent, and the likeness of an intent in a run of it. */
export interface Alike {
  readonly agentId: string
  readonly likeness: string
}

/** In the words of the index over them: of intents that came to nothing a second one is no double. */
const ALIKE = `
select w.likeness, latest.id
from unnest($1::text[], $2::text[]) as w (agent_id, likeness)
cross join lateral (
  select i.id from intents i
  where i.agent_id = w.agent_id and i.likeness = w.likeness and i.created_at > $3
    and i.status in ('created', 'approved', 'completed')
  order by i.created_at desc limit 1) as latest`

/** The latest intent of each likeness, where there has been one lately. Their agents are locked. */
export async function alikeOf(sql: Sql, wanted: readonly Alike[], now: Date): Promise<Map<string, string>> {
  if (wanted.length === 0) return new Map()
  const each = [...new Map(wanted.map(one => [one.likeness, one])).values()]
  const found = await sql<Row & { likeness: string; id: string }>(ALIKE, [
    each.map(({ agentId }) => agentId),
    each.map(({ likeness }) => likeness),
    after(now, -ALIKE_FOR),
  ])
  return new Map(found.map(({ likeness, id }) => [likeness, id]))
}
