import type { Sql } from '../../../kernel/contract/sql.ts'

/** For how long a delivery has waited that could be made; null where none does. */
export const overdueSeconds = async (sql: Sql): Promise<number | null> =>
  (await sql<{ seconds: number | null }>('select overdue_seconds() as seconds'))[0]?.seconds ?? null

/** More are not counted. */
const MOST = 10_000

type Counts = Readonly<Record<'pending' | 'dead', number>>

/** Deliveries that wait, and dead letters. */
export async function deliveryCounts(sql: Sql): Promise<Counts> {
  const [counts] = await sql<Counts>(`select pending::int, dead::int from delivery_counts(${MOST})`)
  return counts as Counts
}

/** Subscriptions that are paused because too much waits for them. */
export const behindCount = async (sql: Sql): Promise<number> =>
  (await sql<{ count: number }>(BEHIND))[0]?.count ?? 0

const BEHIND = `
select count(*)::int as count from (
  select from webhooks where backlog_after is not null and status = 'active' and deleted_at is null limit ${MOST}) found`

/** Subscriptions whose receivers are left alone for a while. */
export const pausedCount = async (sql: Sql): Promise<number> =>
  (await sql<{ count: number }>(`select paused_webhooks(${MOST})::int as count`))[0]?.count ?? 0
