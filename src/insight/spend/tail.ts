import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { inSlices, type Sliced } from '../../kernel/contract/time-slices.ts'
import { type Counted, deltas, merchantOf } from './deltas.ts'
import { BOUNDS_OF_TAIL } from './position.ts'

type Group = 'agent' | 'merchant' | 'mcc' | 'run' | `label:${string}`

/**
 * What the sums are divided by; `label:` goes before a key of the metadata of intents. `kept_back` has what was not spent,
 * and `refused:merchant` what of it was refused, by merchant, and `completed:` the number of completed intents, on the days on which they were declared.
 */
export type View = Group | 'wallet' | 'type' | 'kept_back' | 'refused:merchant' | `completed:${Group}`

/** What is read at one instant: the sums as they are kept, and what is not in them yet, read once for all that is told. */
export interface Spend {
  readonly sql: Sql
  readonly tenant: Tenant
  readonly views: readonly View[]
  /** As text: where the sums stand, and the cells by which they change. */
  readonly tail: string
  /** The texts of merchants in it, by the merchants that they name. */
  readonly newNames: ReadonlyMap<string, ReadonlySet<string>>
}

interface Wanted {
  readonly views: readonly View[]
  readonly agentId?: string | undefined
}

/** What must be looked up for these views. */
const countedIn = (views: readonly View[]): Counted => ({
  keptBack: views.includes('kept_back') || views.includes('refused:merchant'),
  completed: views.some(view => view.startsWith('completed:')),
  labels: views.some(view => view.includes('label:')),
})

const textOf = ({ views, agentId }: Wanted): string => `
with ${BOUNDS_OF_TAIL},
${deltas(alias => `${alias}.owner_id = $1 and ${alias}.mode = $2 and`, countedIn(views))},
tail as materialized (
  select view, day::text as day, agent_id, run_id, value, is_raw, sum(payments)::text as payments,
    sum(spent_cents)::text as spent_cents, sum(refunded_cents)::text as refunded_cents, sum(fee_cents)::text as fee_cents
  from changes where view = any($3::text[]) ${agentId === undefined ? '' : 'and agent_id = $4'}
  group by view, changes.day, agent_id, run_id, value, is_raw
)
select written_in || ' ' || event_id || ' ' || refund_id as position, tail.* from spend_position left join tail on true`

interface TailRow extends Row {
  readonly position: string
  /** Null where nothing is missing. */
  readonly view: string | null
  readonly value: string
  readonly is_raw: boolean
}

/** Texts of merchants that were never counted are resolved, once; row by row, as there may be very many. */
function* toldBy(found: readonly TailRow[]): Sliced<Pick<Spend, 'tail' | 'newNames'>> {
  const rows: string[] = []
  const newNames = new Map<string, Set<string>>()
  for (const { position: _, is_raw: isRaw, ...row } of found) {
    if (row.view === null) continue
    const value = isRaw ? merchantOf(row.value) : row.value
    if (isRaw) newNames.set(value, (newNames.get(value) ?? new Set()).add(row.value))
    rows.push(JSON.stringify({ ...row, value }))
    yield
  }
  const position = JSON.stringify(found[0]?.position ?? null)
  return { tail: `{"position":${position},"rows":[${rows.join(',')}]}`, newNames }
}

/** Reads what is not in the sums yet. */
export async function readTail(sql: Sql, tenant: Tenant, wanted: Wanted): Promise<Spend> {
  const { views, agentId } = wanted
  const values = [tenant.ownerId, tenant.mode, views, ...(agentId === undefined ? [] : [agentId])]
  const found = await sql<TailRow>(textOf(wanted), values)
  return { sql, tenant, views, ...(await inSlices(toldBy(found))) }
}

/** Reads sums at one instant. */
export const atOneInstant = <T>(
  { tenant, atOneInstant }: Pick<Context, 'tenant' | 'atOneInstant'>,
  wanted: Wanted,
  read: (spend: Spend) => Promise<T>,
): Promise<T> => atOneInstant(async sql => read(await readTail(sql, tenant, wanted)))
