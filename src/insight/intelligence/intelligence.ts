import { resolveDescriptor } from '../../control/merchants/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { type Cents, NO_CENTS } from '../../values/money.ts'
import { type ChargeSeries, readChargeSeries, readMerchantDetails } from '../analytics/index.ts'
import {
  computeSpendFigures,
  inclusiveSpan,
  type ReportScopeUntilToday,
  readAgentNames,
  relativeChange,
  resolveReportScope,
} from '../reports/index.ts'
import {
  merchantOfSpend,
  readSpend,
  SPEND_TAIL_SQL,
  type SpendSnapshot,
  spendLinesSql,
  spendQueryParameters,
  withSpendSnapshot,
} from '../spend/index.ts'
import { intelligenceApi } from './api.ts'

const profileViews = ['merchant', 'refused:merchant'] as const

const MOST_CHANGES = 50

interface SeenRow extends Row {
  readonly key: string
  readonly firstOn: string | null
  readonly lastOn: string | null
}

/** Reads first and last refusals from the ends of an index. */
function refusalDatesSql(agentId: string | undefined, values: string): string {
  const ofAgent = agentId === undefined ? '' : 'and one.agent_id = $7'
  const where = `one.view = 'refused:merchant' and one.value = wanted.key and one.day < $5::date and one.payments > 0 ${ofAgent}`
  const of = (end: 'min' | 'max'): string => `
(select ${end}(one.day) from spend_cells one where one.owner_id = $1 and one.mode = $2 and ${where}),
(select ${end}(one.day) from (select * from ${SPEND_TAIL_SQL}) as one where ${where})`
  return `
with ${spendLinesSql({ agentId, values: [] })}
select wanted.key, least(${of('min')})::text as "firstOn", greatest(${of('max')})::text as "lastOn"
from unnest(${values}::text[]) as wanted (key)`
}

async function refusalsSeen(spend: SpendSnapshot, scope: ReportScopeUntilToday, values: readonly string[]) {
  const parameters = spendQueryParameters(spend, { ...scope, values, views: ['refused:merchant'] })
  const rows = await spend.sql<SeenRow>(refusalDatesSql(scope.agentId, `$${parameters.length}`), parameters)
  return new Map(rows.map(row => [row.key, row]))
}

interface Disputed extends Row {
  readonly count: number
  readonly amountCents: Cents
  readonly creditedCents: Cents
}

const DISPUTED = `
select count(*)::int as count, coalesce(sum(amount_cents), 0)::bigint as "amountCents",
  coalesce(sum(credited_cents), 0)::bigint as "creditedCents"
from disputes where owner_id = $1 and mode = $2 and merchant = any($3::text[])
  and created_at >= $4::date::timestamp at time zone 'UTC' and created_at < $5::date::timestamp at time zone 'UTC'`

async function disputedOf(
  { sql, tenant: { ownerId, mode } }: SpendSnapshot,
  { from, before, agentId }: ReportScopeUntilToday,
  names: readonly string[],
) {
  const values = [ownerId, mode, names, from, before, ...(agentId === undefined ? [] : [agentId])]
  const [row] = await sql<Disputed>(
    agentId === undefined ? DISPUTED : `${DISPUTED} and agent_id = $6`,
    values,
  )
  return row ?? { count: 0, amountCents: NO_CENTS, creditedCents: NO_CENTS }
}

function priceChangesIn({ agentId, every, days, cents }: ChargeSeries) {
  return days.flatMap((on, n) => {
    const [fromCents, toCents] = [cents[n - 1], cents[n]]
    if (fromCents === undefined || toCents === undefined || fromCents === toCents) return []
    const change = relativeChange(toCents, fromCents)
    return [{ agentId: agentId || null, every, on, fromCents, toCents, change }]
  })
}

type Sums = Awaited<ReturnType<typeof readSpend>>

const refusedIn = (sums: Sums) => {
  const { count, spentCents } = computeSpendFigures(sums.filter(({ view }) => view === 'refused:merchant'))
  return { count, amountCents: spentCents }
}

const figuresIn = (sums: Sums) => ({
  ...computeSpendFigures(sums.filter(({ view }) => view === 'merchant')),
  refused: refusedIn(sums),
})

function byAgent(sums: Sums) {
  const net = (one: ReturnType<typeof figuresIn>) => Number(one.netCents)
  return [...Map.groupBy(sums, ({ agentId }) => agentId)]
    .map(([agentId, own]) => ({ agentId: agentId || null, ...figuresIn(own) }))
    .sort((one, other) => net(other) - net(one) || (String(one.agentId) < String(other.agentId) ? -1 : 1))
}

const mostConfident = (texts: readonly string[]) =>
  texts.map(resolveDescriptor).reduce((best, one) => (one.confidence > best.confidence ? one : best))

async function profileOf(
  spend: SpendSnapshot,
  scope: ReportScopeUntilToday,
  { keys, limit }: { readonly keys: readonly string[]; readonly limit: number },
) {
  const known = { ...scope, before: scope.knownBefore, values: keys }
  const [sums, refusals, detailsOf] = await Promise.all([
    readSpend(spend, { ...scope, views: profileViews, values: keys, by: ['view', 'agent', 'value'] }),
    refusalsSeen(spend, scope, keys),
    readMerchantDetails(spend, known),
  ])
  const seenOf = (key: string) => {
    const seen = [detailsOf(key), refusals.get(key)].flatMap(one => [one?.firstOn, one?.lastOn])
    return seen.filter(day => typeof day === 'string').sort()
  }
  const key = keys.find(key => seenOf(key).length > 0)
  if (key === undefined) return undefined
  const seen = seenOf(key)
  const names = detailsOf(key)?.names ?? []
  const own = sums.filter(({ value }) => value === key)
  const agents = byAgent(own)
  const shown = agents.slice(0, limit)
  const [runs, disputed, agentNames] = await Promise.all([
    readChargeSeries(spend, { agentId: scope.agentId, before: scope.knownBefore, merchants: [key] }),
    disputedOf(spend, scope, names),
    readAgentNames(
      spend,
      shown.flatMap(({ agentId }) => agentId ?? []),
    ),
  ])
  const { name, mcc, category, confidence } = mostConfident([...names, key])
  return {
    key,
    name,
    mcc,
    category,
    confidence,
    names,
    firstSeenOn: seen[0] ?? '',
    lastSeenOn: seen.at(-1) ?? '',
    ...figuresIn(own),
    disputed,
    priceChanges: runs
      .flatMap(priceChangesIn)
      .sort((one, other) => (one.on < other.on ? 1 : -1))
      .slice(0, MOST_CHANGES),
    agents: shown.map(one => ({ ...one, name: agentNames.get(one.agentId ?? '') ?? null })),
    otherAgents: agents.length - shown.length,
  }
}

const intelligence = bindHandlers(intelligenceApi, {
  async merchant({ params, query }, context) {
    const scope = await resolveReportScope(query, context)
    if (scope instanceof Refusal) return scope
    const keys = [...new Set([params.key, merchantOfSpend(params.key)])]
    const profile = await withSpendSnapshot(context, { agentId: scope.agentId, views: profileViews }, spend =>
      profileOf(spend, scope, { keys, limit: query.limit }),
    )
    return profile ? { ...inclusiveSpan(scope), ...profile } : context.refuse('merchant_not_found')
  },
})

export const intelligenceArea = area(
  'Intelligence',
  'Profiles of merchants: payments, refusals, refunds, disputes and paying agents.',
  intelligence,
)
