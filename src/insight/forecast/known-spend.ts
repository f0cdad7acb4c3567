import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { utcDay } from '../../values/clock.ts'
import { type Cents, cents } from '../../values/money.ts'
import type { OriginalAmount } from '../../values/original-amount.ts'
import type { ChargeSeries } from '../analytics/index.ts'
import { merchantOfSpend } from '../spend/index.ts'
import { type DailySpend, dateOfDay, dayNumber } from './method/days.ts'
import { subscriptionHistory } from './method/subscriptions.ts'

export const knownSpendKinds = ['approved_intent', 'subscription'] as const
export const MAX_KNOWN_SPENDS = 100

export interface KnownSpend {
  readonly kind: (typeof knownSpendKinds)[number]
  readonly date: string
  readonly amountCents: Cents
  /** The price of a begun payment, or of the last charge; null for euros. */
  readonly original: OriginalAmount | null
  readonly merchant: string
  readonly agentId: string | null
  readonly intentId: string | null
}

const APPROVED = `
select i.id as "intentId", i.agent_id as "agentId", i.merchant, i.amount_cents as "amountCents", i.expires_at as "expiresAt",
  p.original
from intents i
left join lateral (
  select coalesce(facts #> '{requests,0,original}', facts -> 'initiatedOriginal') as original from card_authorizations one
  where (one.owner_id, one.mode, one.id) = ($1, $2, i.payment_id) limit 1) as p on true
where i.owner_id = $1 and i.mode = $2 and i.status = 'approved' and ($3::text is null or i.agent_id = $3)
order by i.id desc limit ${MAX_KNOWN_SPENDS}`

interface Approved extends Row {
  readonly intentId: string
  readonly agentId: string
  readonly merchant: string
  readonly amountCents: Cents
  readonly original: OriginalAmount | null
  readonly expiresAt: Date
}

export async function readApprovedIntents(
  sql: Sql,
  { tenant }: TenantNow,
  agentId: string | undefined,
): Promise<KnownSpend[]> {
  const approved = await sql<Approved>(APPROVED, [tenant.ownerId, tenant.mode, agentId ?? null])
  return approved.map(({ expiresAt, ...intent }) => ({
    kind: 'approved_intent',
    date: utcDay(expiresAt),
    ...intent,
  }))
}

/** Charges of an agent by the same amount on a day, of which one is of the merchant. */
const MAX_ALIKE = 20

const LAST_ORIGINALS = `
select w.n::int as n, t.merchant as text, t.original
from unnest($3::text[], $4::date[], $5::bigint[]) with ordinality as w (agent, day, cents, n)
cross join lateral (
  select merchant, original from transactions one
  where one.owner_id = $1 and one.mode = $2 and one.agent_id = w.agent and one.original is not null
    and one.amount_cents = w.cents and one.created_at >= w.day::timestamp at time zone 'UTC'
    and one.created_at < (w.day + 1)::timestamp at time zone 'UTC'
  limit ${MAX_ALIKE}) as t`

/** What the last charge of each series was in another currency; its place is missing for euros. */
export async function readLastOriginals(
  sql: Sql,
  { tenant }: TenantNow,
  runs: readonly ChargeSeries[],
): Promise<ReadonlyMap<ChargeSeries, OriginalAmount>> {
  if (runs.length === 0) return new Map()
  const rows = await sql<Row & { n: number; text: string; original: OriginalAmount }>(LAST_ORIGINALS, [
    tenant.ownerId,
    tenant.mode,
    runs.map(({ agentId }) => agentId),
    runs.map(({ days }) => days.at(-1) ?? null),
    runs.map(({ cents }) => String(cents.at(-1) ?? 0)),
  ])
  const found = rows.flatMap(({ n, text, original }): [ChargeSeries, OriginalAmount][] => {
    const run = runs[n - 1]
    return run && merchantOfSpend(text) === run.merchant ? [[run, original]] : []
  })
  return new Map(found)
}

const DUE = `
select (expires_at at time zone 'UTC')::date::text as date, sum(amount_cents)::bigint as "amountCents" from intents
where owner_id = $1 and mode = $2 and status = 'approved' and expires_at > $4 and ($3::text is null or agent_id = $3) group by 1`

export type CentsDueOnDay = (day: number) => number

/** Approved and unpaid intents by the day on which they expire, which is their latest day of payment. */
export async function readIntentsDueByDay(
  sql: Sql,
  { tenant, now }: TenantNow,
  agentId: string | undefined,
): Promise<CentsDueOnDay> {
  const rows = await sql<{ date: string; amountCents: Cents }>(DUE, [
    tenant.ownerId,
    tenant.mode,
    agentId ?? null,
    now,
  ])
  const due = new Map(rows.map(({ date, amountCents }) => [dayNumber(date), Number(amountCents)]))
  return day => due.get(day) ?? 0
}

export interface UpcomingCharges {
  readonly todayCents: number
  readonly cents: readonly number[]
  readonly known: readonly KnownSpend[]
}

interface ExpectedSpan {
  readonly most: number
  readonly days: number
  readonly originals: ReadonlyMap<ChargeSeries, OriginalAmount>
}

/**
 * Charges of the next `most` days. The list contains those of the first `days`, and the next one of each
 * subscription.
 */
export function upcomingCharges(
  { firstDay, cents: past, subscriptions = [] }: DailySpend,
  runs: readonly ChargeSeries[],
  { most, days, originals }: ExpectedSpan,
): UpcomingCharges {
  const today = firstDay + past.length
  const centsAhead = Array<number>(most).fill(0)
  const known: KnownSpend[] = []
  let todayCents = 0
  for (const [n, subscription] of subscriptions.entries()) {
    const run = runs[n] as ChargeSeries
    const { agentId, merchant } = run
    const original = originals.get(run) ?? null
    const one = subscriptionHistory(subscription)
    for (const charge of one.chargesBefore(today + 1)) if (charge.day === today) todayCents += charge.cents
    for (const [place, expected] of one.expectedFrom(today, today + 1).entries()) {
      const ahead = expected.day - today
      if (ahead < most) centsAhead[ahead] = (centsAhead[ahead] as number) + expected.cents
      if (place > 0 && ahead >= days) continue
      const date = dateOfDay(expected.day)
      const amountCents = cents(expected.cents)
      known.push({
        kind: 'subscription',
        date,
        amountCents,
        original,
        merchant,
        agentId: agentId || null,
        intentId: null,
      })
    }
  }
  return { todayCents, cents: centsAhead, known }
}

export const sortBySoonest = (known: readonly KnownSpend[]): KnownSpend[] =>
  known.toSorted((one, other) => (one.date < other.date ? -1 : 1)).slice(0, MAX_KNOWN_SPENDS)
