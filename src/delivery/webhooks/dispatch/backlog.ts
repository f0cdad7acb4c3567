import type { Sql } from '../../../kernel/contract/sql.ts'

/** How long the oldest due delivery has waited; null if none is due. */
export const overdueSeconds = async (sql: Sql): Promise<number | null> =>
  (await sql<{ seconds: number | null }>('select overdue_seconds() as seconds'))[0]?.seconds ?? null

/** Counting stops here: exact numbers beyond it would cost much and tell little. */
const MAX_COUNTED = 10_000

type Counts = Readonly<Record<'pending' | 'dead', number>>

/** The numbers of waiting deliveries and of dead letters. */
export async function deliveryCounts(sql: Sql): Promise<Counts> {
  const [counts] = await sql<Counts>(`select pending::int, dead::int from delivery_counts(${MAX_COUNTED})`)
  return counts as Counts
}

/** The number of subscriptions that are paused because too much waits for them. */
export const behindCount = async (sql: Sql): Promise<number> =>
  (await sql<{ count: number }>(BEHIND))[0]?.count ?? 0

const BEHIND = `
select count(*)::int as count from (
  select from webhooks where backlog_after is not null and status = 'active' and deleted_at is null limit ${MAX_COUNTED}) found`

/** The number of subscriptions whose receivers are not tried for a while after their failures. */
export const pausedCount = async (sql: Sql): Promise<number> =>
  (await sql<{ count: number }>(`select paused_webhooks(${MAX_COUNTED})::int as count`))[0]?.count ?? 0
