import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { addDays, changeOf, figuresOf, type ReportScope, shareOf } from '../reports/index.ts'
import { merchantOf, readSpend, readTop, type SpendSum } from '../spend/index.ts'
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
  const { sums, newNames } = await readTop(sql, tenant, { ...scope, views: [groupBy] }, limit)
  const total = figuresOf(sums)
  const told = sums.flatMap(sum => (sum.value === null ? [] : { key: sum.value, ...figuresOf([sum]) }))
  const rest = sums.find(({ value }) => value === null)
  const keys = told.map(({ key }) => key)
  const details =
    groupBy === 'merchant' ? await detailsOf(sql, tenant, keys, { ...scope, newNames }) : undefined
  return {
    total,
    data: told.map(({ key, ...figures }) => ({
      key: key || null,
      ...figures,
      share: shareOf(figures.netEuros, total.netEuros),
      ...(details?.(key) ?? { names: [], firstOn: null, lastOn: null, rhythm: null }),
    })),
    other: rest ? { groups: rest.values, ...figuresOf([rest]) } : null,
  }
}

type Detailed = ReportScope & { readonly newNames: readonly string[] }

async function detailsOf(sql: Sql, tenant: Tenant, values: readonly string[], scope: Detailed) {
  if (values.length === 0) return undefined
  const { before, agentId, newNames } = scope
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
  const namedNow = Map.groupBy(newNames, merchantOf)
  return (key: string) => {
    const paid = (days.get(key) ?? []).filter(({ payments }) => payments > 0).sort(inOrder)
    const first = (months.get(key) ?? []).sort(inOrder)[0]
    const isLong = first !== undefined && first.day.slice(0, 7) < (paid[0]?.day ?? '9999').slice(0, 7)
    return {
      names: [...new Set([...(names.get(key) ?? []), ...(namedNow.get(key) ?? [])])].sort(),
      // A merchant of more than 400 days ago is told by the month.
      firstOn: isLong ? first.day.slice(0, 7) : (paid[0]?.day ?? null),
      lastOn: paid.at(-1)?.day ?? null,
      rhythm: rhythmIn(days.get(key) ?? [], before),
    }
  }
}

export type Merchants = Awaited<ReturnType<typeof merchantsOf>>
