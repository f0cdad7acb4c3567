import type { Tenant } from '../../kernel/contract/actor.ts'
import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import { doubtfulMoneyApi } from './api.ts'
import { type DoubtfulMoneyKind, doubtAbout, doubtfulMoneyKinds, doubtfulMoneyPersonalData } from './doubt.ts'

interface DoubtfulRow extends Row, Tenant {
  readonly id: string
  readonly kind: DoubtfulMoneyKind
  readonly since: Date
  readonly amountCents: Cents
  readonly workflowId: string | null
}

const oldestFirst = (whose: string): string => `
select id, owner_id as "ownerId", mode, kind, since, amount_cents as "amountCents", workflow_id as "workflowId"
from doubtful_money where ${whose} and (since, id) > ($1, $2)
  and ($3::text is null or kind = $3) and ($4::text is null or owner_id = $4) and ($5::text is null or mode = $5)
order by since, id limit $6`

const OF_OWNER = oldestFirst('(owner_id, mode) = ($7, $8)')
const OF_ALL_OWNERS = oldestFirst('true')

/** A position in the list, before all others. */
const BEGINNING = '-infinity '

const doubtfulMoney = bindHandlers(doubtfulMoneyApi, {
  async list({ query: { kind, ownerId, mode } }, { actor, sql, pageBy }) {
    const filters = [kind ?? null, ownerId ?? null, mode ?? null]
    const { tenant } = actor
    const { data, ...cursor } = await pageBy(async (after = BEGINNING, most) => {
      const values = [...after.split(' '), ...filters, most]
      const rows = tenant
        ? await sql<DoubtfulRow>(OF_OWNER, [...values, tenant.ownerId, tenant.mode])
        : await sql<DoubtfulRow>(OF_ALL_OWNERS, values)
      return rows.map(entry => ({ id: `${entry.since.toISOString()} ${entry.id}`, entry }))
    })
    return { ...cursor, data: data.map(({ entry }) => ({ ...entry, ...doubtAbout(entry.kind, entry.id) })) }
  },
})

/** Test money is left out: the sandbox has amounts whose outcome stays unknown. */
const OLDEST = `
select each.kind, coalesce(greatest(0, extract(epoch from clock_timestamp() - first.since)), 0)::float8 as seconds
from unnest($1::text[]) as each (kind) left join lateral (
  select d.since from doubtful_money d where d.mode = 'live' and d.kind = each.kind order by d.since limit 1) first on true`

/** For how long the outcome of live money has been unknown, by kind. */
export async function oldestDoubtSeconds(sql: Sql): Promise<Record<string, number>> {
  const rows = await sql<Row & { kind: string; seconds: number }>(OLDEST, [doubtfulMoneyKinds])
  return Object.fromEntries(rows.map(({ kind, seconds }) => [kind, seconds]))
}

export const doubtfulMoneyArea = area(
  'Doubtful Money',
  'Money whose outcome is unknown, by any means of payment, and what ends the doubt.',
  doubtfulMoney,
  { personal: doubtfulMoneyPersonalData },
)
