import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { runInSlices, type SlicedWork } from '../../kernel/contract/time-slices.ts'
import { type CountedIntentFacts, merchantOfSpend, spendDeltasSql } from './deltas.ts'
import { TAIL_BOUNDS_SQL } from './position.ts'

type Group = 'agent' | 'merchant' | 'mcc' | 'run' | `label:${string}`

/**
 * The dimension of the sums. `label:` precedes a key of the metadata of intents. `kept_back` has payments
 * that did not happen, `refused:merchant` the refused ones of these by merchant, `completed:` the number of
 * completed intents by the day of their declaration.
 */
export type SpendView = Group | 'wallet' | 'type' | 'kept_back' | 'refused:merchant' | `completed:${Group}`

/** One snapshot: the stored sums, and the changes that they do not include yet, read once for a whole report. */
export interface SpendSnapshot {
  readonly sql: Sql
  readonly tenant: Tenant
  readonly views: readonly SpendView[]
  readonly tail: string
  readonly newNames: ReadonlyMap<string, ReadonlySet<string>>
}

interface Wanted {
  readonly views: readonly SpendView[]
  readonly agentId?: string | undefined
}

const countedIn = (views: readonly SpendView[]): CountedIntentFacts => ({
  keptBack: views.includes('kept_back') || views.includes('refused:merchant'),
  completed: views.some(view => view.startsWith('completed:')),
  labels: views.some(view => view.includes('label:')),
})

/**
 * Events are searched by the bounds alone: no index can use the owner and the mode when they are concatenated. Few
 * events are within the bounds, but PostgreSQL does not know that, and would read all events of a large owner.
 * Refunds have an index by owner and position.
 */
const ofTenant = (alias: 'e' | 'r'): string =>
  alias === 'e' ? 'e.owner_id || e.mode = $1 || $2 and' : 'r.owner_id = $1 and r.mode = $2 and'

const textOf = ({ views, agentId }: Wanted): string => `
with ${TAIL_BOUNDS_SQL},
${spendDeltasSql(ofTenant, countedIn(views))},
tail as materialized (
  select view, day::text as day, agent_id, run_id, value, is_raw, sum(payments)::text as payments,
    sum(spent_cents)::text as spent_cents, sum(refunded_cents)::text as refunded_cents, sum(fee_cents)::text as fee_cents
  from changes where view = any($3::text[]) ${agentId === undefined ? '' : 'and agent_id = $4'}
  group by view, changes.day, agent_id, run_id, value, is_raw
)
select written_in || ' ' || event_id || ' ' || refund_id as position, tail.* from spend_position left join tail on true`

interface TailRow extends Row {
  readonly position: string
  readonly view: string | null
  readonly value: string
  readonly is_raw: boolean
}

/** Resolves texts of merchants that were never counted, once each; row by row, since there may be very many. */
function* resolveNewNames(found: readonly TailRow[]): SlicedWork<Pick<SpendSnapshot, 'tail' | 'newNames'>> {
  const rows: string[] = []
  const newNames = new Map<string, Set<string>>()
  for (const { position: _, is_raw: isRaw, ...row } of found) {
    if (row.view === null) continue
    const value = isRaw ? merchantOfSpend(row.value) : row.value
    if (isRaw) newNames.set(value, (newNames.get(value) ?? new Set()).add(row.value))
    rows.push(JSON.stringify({ ...row, value }))
    yield
  }
  const position = JSON.stringify(found[0]?.position ?? null)
  return { tail: `{"position":${position},"rows":[${rows.join(',')}]}`, newNames }
}

export async function readSpendSnapshot(sql: Sql, tenant: Tenant, wanted: Wanted): Promise<SpendSnapshot> {
  const { views, agentId } = wanted
  const values = [tenant.ownerId, tenant.mode, views, ...(agentId === undefined ? [] : [agentId])]
  const found = await sql<TailRow>(textOf(wanted), values)
  return { sql, tenant, views, ...(await runInSlices(resolveNewNames(found))) }
}

export const withSpendSnapshot = <T>(
  { tenant, withSnapshot }: ReadContext,
  wanted: Wanted,
  read: (spend: SpendSnapshot) => Promise<T>,
): Promise<T> => withSnapshot(async sql => read(await readSpendSnapshot(sql, tenant, wanted)))
