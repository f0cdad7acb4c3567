import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { rhythmOf } from '../analytics/index.ts'
import { addDays, dayOf } from '../reports/index.ts'
import { readSpend, readTop, type Span, type SpendSum } from '../spend/index.ts'

export const knownKinds = ['approved_intent', 'subscription'] as const
export const MOST_KNOWN = 100

export interface Known {
  readonly kind: (typeof knownKinds)[number]
  /** By when it is paid at the latest, or is charged next. */
  readonly date: string
  readonly amountEuros: Euros
  readonly merchant: string
  readonly agentId: string | null
  readonly intentId: string | null
}

const RHYTHM_DAYS = 400
/** Merchants that get less than these are not looked at: what a question costs does not grow with their number. */
const MOST_MERCHANTS = 50

const APPROVED = `
select id as "intentId", agent_id as "agentId", merchant, amount_cents as "amountEuros", expires_at as "expiresAt"
from intents
where owner_id = $1 and mode = $2 and status = 'approved' and ($3::text is null or agent_id = $3)
order by id desc limit ${MOST_KNOWN}`

interface Approved extends Row {
  readonly intentId: string
  readonly agentId: string
  readonly merchant: string
  readonly amountEuros: Euros
  readonly expiresAt: Date
}

/** What will cost something and need not be guessed: approved intents that are not paid, and the next charge of each subscription. */
export async function knownAhead(
  sql: Sql,
  { tenant, now }: TenantNow,
  agentId: string | undefined,
): Promise<Known[]> {
  const today = dayOf(now)
  const [approved, paid] = await Promise.all([
    sql<Approved>(APPROVED, [tenant.ownerId, tenant.mode, agentId ?? null]),
    paidToMerchants(sql, tenant, { from: addDays(today, -RHYTHM_DAYS), before: addDays(today, 1), agentId }),
  ])
  const intents = approved.map(({ expiresAt, ...intent }) => ({
    kind: 'approved_intent' as const,
    date: dayOf(expiresAt),
    ...intent,
  }))
  return [...intents, ...subscriptionsIn(paid, today)]
    .sort((one, other) => (one.date < other.date ? -1 : 1))
    .slice(0, MOST_KNOWN)
}

/** What each agent has paid the merchants that got most, day by day. */
async function paidToMerchants(
  sql: Sql,
  tenant: TenantNow['tenant'],
  span: Span & { readonly agentId: string | undefined },
): Promise<SpendSum[]> {
  const { sums } = await readTop(sql, tenant, { ...span, views: ['merchant'] }, MOST_MERCHANTS)
  const values = sums.flatMap(({ value }) => value ?? [])
  if (values.length === 0) return []
  return readSpend(sql, tenant, { ...span, values, views: ['merchant'], by: ['day', 'agent', 'value'] })
}

function subscriptionsIn(paid: readonly SpendSum[], today: string): Known[] {
  const inOrder = paid.toSorted((one, other) => (one.day < other.day ? -1 : 1))
  const series = Map.groupBy(inOrder, ({ agentId, value }) => `${agentId} ${value}`)
  return [...series.values()].flatMap(days => {
    const rhythm = rhythmOf(days, today)
    const [first] = days
    if (!rhythm || !first || rhythm.next < today) return []
    return {
      kind: 'subscription',
      date: rhythm.next,
      amountEuros: rhythm.lastEuros,
      merchant: first.value,
      agentId: first.agentId || null,
      intentId: null,
    }
  })
}
