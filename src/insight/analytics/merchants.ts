import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { addDays, changeOf, figuresOf, type ReportScope, shareOf } from '../reports/index.ts'
import { readSpend, type SpendSum } from '../spend/index.ts'
import { groupsBy } from './groups.ts'
import { rhythmOf } from './rhythm.ts'

/** A rhythm is looked for in so many days. */
const RHYTHM_DAYS = 400
const EVER = '1970-01-01'

const NAMES = `
select merchant, array_agg(name order by name) as names from merchant_names
where owner_id = $1 and mode = $2 and merchant = any($3::text[]) group by merchant`

/** How payments name these merchants: as many texts of each as are kept. */
async function namesOf(sql: Sql, { ownerId, mode }: Tenant, merchants: readonly string[]) {
  const rows = await sql<{ merchant: string; names: string[] }>(NAMES, [ownerId, mode, merchants])
  return new Map(rows.map(({ merchant, names }) => [merchant, names]))
}

type OfMerchants = Omit<ReportScope, 'from'> & { readonly values: readonly string[] }

/** What each agent has paid each of these merchants, day by day. */
const seriesOf = (sql: Sql, tenant: Tenant, wanted: OfMerchants): Promise<SpendSum[]> =>
  readSpend(sql, tenant, {
    ...wanted,
    from: addDays(wanted.before, -RHYTHM_DAYS),
    views: ['merchant'],
    by: ['day', 'agent', 'value'],
  })

const inOrder = (one: SpendSum, other: SpendSum): number => (one.day < other.day ? -1 : 1)

/** The rhythm of the agent that has paid by it for longest. */
function rhythmIn(sums: readonly SpendSum[], before: string) {
  const byAgent = [...Map.groupBy(sums, ({ agentId }) => agentId)].sort(([one], [other]) =>
    one < other ? -1 : 1,
  )
  const rhythms = byAgent.flatMap(([agentId, days]) => {
    const rhythm = rhythmOf(days.toSorted(inOrder), before)
    return rhythm ? { agentId: agentId || null, ...rhythm } : []
  })
  const [longest] = rhythms.sort((one, other) => other.times - one.times)
  return longest ? { ...longest, change: changeOf(longest.lastEuros, longest.firstEuros) } : null
}

type Wanted = ReportScope & { readonly groupBy: 'merchant' | 'mcc'; readonly limit: number }

/** The merchants, or their trades, that most was paid to. */
export async function merchantsOf(sql: Sql, tenant: Tenant, { groupBy, limit, ...scope }: Wanted) {
  const sums = await readSpend(sql, tenant, { ...scope, views: [groupBy], by: ['value'] })
  const total = figuresOf(sums)
  const groups = groupsBy(sums, ({ value }) => value)
  const [told, rest] = [groups.slice(0, limit), groups.slice(limit)]
  const details =
    groupBy === 'merchant'
      ? await detailsOf(
          sql,
          tenant,
          told.map(({ key }) => key),
          scope,
        )
      : undefined
  return {
    total,
    data: told.map(({ key, sums: own, ...figures }) => ({
      key: key || null,
      ...figures,
      share: shareOf(figures.netEuros, total.netEuros),
      ...(details?.(key, own) ?? { names: [], firstOn: null, lastOn: null, rhythm: null }),
    })),
    other: rest.length > 0 ? { groups: rest.length, ...figuresOf(rest.flatMap(group => group.sums)) } : null,
  }
}

async function detailsOf(sql: Sql, tenant: Tenant, values: readonly string[], scope: ReportScope) {
  if (values.length === 0) return undefined
  const { before, agentId } = scope
  const [names, series, ever] = await Promise.all([
    namesOf(sql, tenant, values),
    seriesOf(sql, tenant, { before, agentId, values }),
    readSpend(sql, tenant, {
      agentId,
      before,
      from: EVER,
      values,
      views: ['merchant'],
      by: ['month', 'value'],
    }),
  ])
  const days = Map.groupBy(series, ({ value }) => value)
  const months = Map.groupBy(
    ever.filter(({ payments }) => payments > 0),
    ({ value }) => value,
  )
  return (key: string, own: readonly SpendSum[]) => {
    const paid = (days.get(key) ?? []).filter(({ payments }) => payments > 0).sort(inOrder)
    const first = (months.get(key) ?? []).sort(inOrder)[0]
    const isLong = first !== undefined && first.day.slice(0, 7) < (paid[0]?.day ?? '9999').slice(0, 7)
    return {
      names: [...new Set([...(names.get(key) ?? []), ...own.flatMap(({ newNames }) => newNames)])].sort(),
      // A merchant of more than 400 days ago is told by the month.
      firstOn: isLong ? first.day.slice(0, 7) : (paid[0]?.day ?? null),
      lastOn: paid.at(-1)?.day ?? null,
      rhythm: rhythmIn(days.get(key) ?? [], before),
    }
  }
}

export type Merchants = Awaited<ReturnType<typeof merchantsOf>>
