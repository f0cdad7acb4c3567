import type { Tenant } from '../contract/actor.ts'
import { type SqlCondition, sqlCondition } from '../contract/conditions.ts'
import type { Deadline, OpenRecordsQuery } from '../contract/deadline.ts'
import type { Sql } from '../contract/sql.ts'

/** Tables whose deadlines are rows of `deadlines`, so that none of their indexes changes with them. */
const kinds = [
  'transfers',
  'mpp_payments',
  'mpp_credentials',
  'mpp_settlements',
  'card_authorizations',
] as const
type Kind = (typeof kinds)[number]

/** Reads the first entry of each kind and mode in the primary key. */
export const OVERDUE_SECONDS_SQL = `
select greatest(0, extract(epoch from clock_timestamp() - min(first.due_at)))::float8 as seconds
from unnest(array['${kinds.join("', '")}']) as each (kind) cross join unnest(array['test', 'live']) as tried (mode)
cross join lateral (
  select d.due_at from deadlines d where d.kind = each.kind and d.mode = tried.mode order by d.due_at limit 1) as first`

/** How long ago the first payment that is still open should have ended. */
export const paymentsOverdueSeconds = async (sql: Sql): Promise<number> =>
  (await sql<{ seconds: number }>(OVERDUE_SECONDS_SQL))[0]?.seconds ?? 0

const columnOf = (kind: Kind, column: string): string =>
  `(select r.${column} from ${kind} r where (r.owner_id, r.mode, r.id) = (deadlines.owner_id, deadlines.mode, deadlines.id))`

/** The deadline of such a table; `isFollowed`: some of its records have a run, which waits by the tenant's time. */
export const deadlineInRows = (
  kind: Kind,
  { isFollowed }: { readonly isFollowed: boolean },
): Omit<Deadline, 'process' | 'operations'> => ({
  table: 'deadlines',
  open: `kind = '${kind}'`,
  ...(isFollowed && {
    agent: columnOf(kind, 'agent_id'),
    known: columnOf(kind, 'updated_at'),
    waits: `${columnOf(kind, 'workflow_id')} is not null`,
  }),
})

/** An order has no amount yet. */
export const openRecordsInRows = (
  kind: 'transfers' | 'mpp_credentials' | 'mpp_payments',
): OpenRecordsQuery['select'] => `
select d.id, d.owner_id, d.mode, r.agent_id${kind === 'mpp_payments' ? '' : ', r.amount_cents'} from deadlines d
cross join lateral (
  select * from ${kind} one where (one.owner_id, one.mode, one.id) = (d.owner_id, d.mode, d.id) limit 1) r
where d.kind = '${kind}' and d.kind in ('transfers', 'mpp_credentials', 'mpp_payments') and r.workflow_id is not null`

/** SQL: the ids of a tenant's records that have a deadline; `owner` and `mode` are places of values. */
export const idsWithDeadlineSql = (
  kind: Kind,
  [owner, mode]: readonly [owner: string, mode: string],
): string =>
  `array(select d.id from deadlines d where d.kind = '${kind}' and d.mode = ${mode} and d.owner_id = ${owner})`

export const hasDeadlineCondition = (kind: Kind, { ownerId, mode }: Tenant) =>
  sqlCondition(`id = any(${idsWithDeadlineSql(kind, ['?', '?'])})`, [mode, ownerId])

interface IndexedStatuses {
  /** Those in which `exceptional_status` has the status, and its index an entry. */
  readonly exceptional: readonly string[]
  /** Those in which a record is in a narrow table, found by this condition. */
  readonly open: readonly string[]
  readonly isOpen: SqlCondition
}

/** Records of a status, by the index or the table that has them. Those that have ended as usual are most of all. */
export function statusCondition<S extends string>(
  status: S | undefined,
  { exceptional, open, isOpen }: IndexedStatuses,
): { readonly status?: S } & SqlCondition {
  if (status === undefined) return {}
  if (exceptional.includes(status)) return sqlCondition('exceptional_status = ?', [status])
  return { status, ...(open.includes(status) && isOpen) }
}
