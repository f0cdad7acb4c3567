import { merchantOfSpend } from '../../../src/insight/spend/deltas.ts'
import type { SpendSum } from '../../../src/insight/spend/read.ts'

interface Line {
  readonly day: string
  readonly agent: string
  readonly run: string
  readonly merchant: string
  readonly mcc: string
  readonly wallet: string
  readonly type: string
  readonly labels: Record<string, string>
  readonly payments: number
  readonly spent: bigint
  readonly refunded: bigint
}

interface Payments {
  sql<R extends object>(text: string, values?: unknown[]): Promise<R[]>
}

/** Every payment and every refund, one line each, without sums, position or follower. */
const LINES = `
select one.*, coalesce(i.metadata, '{}') as labels from (
  select (created_at at time zone 'UTC')::date::text as day, agent_id, run_id, merchant, mcc, wallet_id, type, intent_id,
    case type when 'refund' then 0 else 1 end as payments,
    case type when 'refund' then 0 else amount_cents end as spent, case type when 'refund' then amount_cents else 0 end as refunded
  from transactions
  where (owner_id, mode) = ($1, $2) and type <> 'collect' and status in ('settlement', 'settled', 'completed', 'refunded')
  union all
  select (r.at at time zone 'UTC')::date::text, t.agent_id, t.run_id, t.merchant, t.mcc, t.wallet_id, t.type, t.intent_id, 0, 0,
    r.cents
  from transaction_refunds r join transactions t on t.id = r.transaction_id
  where (t.owner_id, t.mode) = ($1, $2) and t.type <> 'collect'
) as one left join intents i on i.id = one.intent_id`

export async function slowLines({ sql }: Payments, ownerId: string, mode = 'test'): Promise<Line[]> {
  const rows = await sql<Record<string, string> & { labels: Record<string, string> }>(LINES, [ownerId, mode])
  return rows.map(row => ({
    day: String(row.day),
    agent: row.agent_id ?? '',
    run: row.run_id ?? '',
    merchant: merchantOfSpend(String(row.merchant)),
    mcc: row.mcc ?? '',
    wallet: String(row.wallet_id),
    type: String(row.type),
    labels: row.labels,
    payments: Number(row.payments),
    spent: BigInt(String(row.spent)),
    refunded: BigInt(String(row.refunded)),
  }))
}

/** Declined and denied amounts, by day, agent and rule. */
const KEPT_BACK = `
select day, agent_id as agent, what, count(*)::int as payments, sum(cents)::bigint::text as spent from (
  select (e.created_at at time zone 'UTC')::date::text as day, i.agent_id,
    case when i.status = 'expired' then 'expired' when i.decided_by ->> 'type' = 'policy' then 'denied' else 'turned_down' end
      as what, i.amount_cents as cents
  from intents i join events e on e.resource_id = i.id and e.event in ('intent.denied', 'intent.expired')
  where (i.owner_id, i.mode) = ($1, 'test') and (i.status = 'denied' or (i.status = 'expired' and i.decided_at is null))
  union all
  select (t.created_at at time zone 'UTC')::date::text, t.agent_id, 'declined', t.amount_cents
  from transactions t join card_authorizations a on a.transaction_id = t.id
  where (t.owner_id, t.mode) = ($1, 'test') and t.status = 'declined' and a.decline_reason is not null
    and not (a.decision ->> 'allowed')::boolean
) as one group by 1, 2, 3`

export const slowKeptBack = async ({ sql }: Payments, ownerId: string): Promise<string[]> =>
  (await sql<Record<string, string>>(KEPT_BACK, [ownerId])).map(row => Object.values(row).join(' ')).sort()

const figures = (lines: readonly Pick<Line, 'payments' | 'spent' | 'refunded'>[]) =>
  lines.reduce(
    ([payments, spent, refunded], line) =>
      [payments + line.payments, spent + line.spent, refunded + line.refunded] as const,
    [0, 0n, 0n] as readonly [number, bigint, bigint],
  )

/** The same sums from every line: `key` returns a line's sum, undefined for none. */
export function slowSums(lines: readonly Line[], key: (line: Line) => string | undefined): string[] {
  const groups = Map.groupBy(lines, key)
  groups.delete(undefined)
  return [...groups]
    .map(([name, group]) => [name, figures(group)] as const)
    .filter(([, sums]) => sums.some(sum => sum !== 0 && sum !== 0n))
    .map(([name, sums]) => `${name}: ${sums.join(' ')}`)
    .sort()
}

export const fastSums = (sums: readonly SpendSum[], key: (sum: SpendSum) => string): string[] =>
  sums.map(sum => `${key(sum)}: ${[sum.payments, sum.spentCents, sum.refundedCents].join(' ')}`).sort()
