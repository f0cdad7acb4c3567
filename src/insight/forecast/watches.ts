import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'

/** That an agent’s budget is looked at: when next, and the month in which its owner was told last. */
export interface Watch extends Row {
  readonly agentId: string
  readonly dueAt: Date
  readonly toldMonth: string | null
}

/** A watch that stands already is moved to this instant, by which a look that is under way notices the change. */
const SET = `
insert into budget_watches (owner_id, mode, agent_id, due_at)
select distinct $1, $2, agent_id, $4::timestamptz from unnest($3::text[]) as a (agent_id) order by agent_id
on conflict (owner_id, mode, agent_id) do update set due_at = excluded.due_at`

export const setWatches = (
  sql: Sql,
  { ownerId, mode }: Tenant,
  agentIds: readonly string[],
  dueAt: Date,
): Promise<unknown> => sql(SET, [ownerId, mode, agentIds, dueAt])

const FIND = `
select agent_id as "agentId", due_at as "dueAt", told_month as "toldMonth" from budget_watches
where owner_id = $1 and mode = $2 and agent_id = $3`

export async function findWatch(
  sql: Sql,
  { ownerId, mode }: Tenant,
  agentId: string,
): Promise<Watch | undefined> {
  const [watch] = await sql<Watch>(FIND, [ownerId, mode, agentId])
  return watch
}

const UNCHANGED = 'owner_id = $1 and mode = $2 and agent_id = $3 and due_at = $4 returning agent_id'
const END = `delete from budget_watches where ${UNCHANGED}`
const MOVE = `update budget_watches set due_at = $5, told_month = $6 where ${UNCHANGED}`

/** Moves a watch, or ends it where nothing is due any more; false where somebody else has done so meanwhile. */
export async function moveWatch(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { agentId, dueAt: wasDueAt }: Watch,
  { dueAt, toldMonth }: { readonly dueAt: Date | null; readonly toldMonth: string | null },
): Promise<boolean> {
  const key = [ownerId, mode, agentId, wasDueAt]
  const moved = dueAt ? await sql(MOVE, [...key, dueAt, toldMonth]) : await sql(END, key)
  return moved.length > 0
}
