import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { figuresOf, type ReportScope } from '../reports/index.ts'
import { readSpend, type Spend } from '../spend/index.ts'

export const waysKeptBack = ['denied', 'turned_down', 'declined', 'expired'] as const
type Way = (typeof waysKeptBack)[number]

/** What was kept back is always told by rule; by agent it is told, too, where that is asked for. */
export const savingsGroupings = ['rule', 'agent'] as const

export const savingsViews = ['kept_back', 'agent'] as const

interface Won extends Row {
  readonly count: number
  readonly amountEuros: Euros
}

/** SQL: the disputes that were won in the days from one parameter on and before the other. */
export const disputesWonWithin = (from: string, before: string): string => `
from disputes where owner_id = $1 and mode = $2 and status = 'won'
  and resolved_at >= ${from}::date::timestamp at time zone 'UTC' and resolved_at < ${before}::date::timestamp at time zone 'UTC'`

/** Of a dispute counts what it has given back, which is never what the merchant has refunded. */
const WON = `
select count(*)::int as count, coalesce(sum(credited_cents), 0)::bigint as "amountEuros" ${disputesWonWithin('$3', '$4')}`

async function disputesWon(sql: Sql, { ownerId, mode }: Tenant, scope: ReportScope): Promise<Won> {
  const { from, before, agentId } = scope
  const values = [ownerId, mode, from, before, ...(agentId === undefined ? [] : [agentId])]
  const [won] = await sql<Won>(agentId === undefined ? WON : `${WON} and agent_id = $5`, values)
  return won ?? { count: 0, amountEuros: 0n }
}

/** What was kept back, and what was got back: each refusal, refund and dispute once. */
export async function savingsOf(spend: Spend, scope: ReportScope) {
  const [sums, { count, amountEuros }] = await Promise.all([
    readSpend(spend, { ...scope, views: savingsViews, by: ['view', 'value'] }),
    disputesWon(spend.sql, spend.tenant, scope),
  ])
  const rules = sums
    .filter(({ view }) => view === 'kept_back')
    .map(({ value, payments, spentEuros }) => {
      const [how = '', rule = ''] = value.split(' ')
      return { how: how as Way, rule, count: payments, amountEuros: spentEuros }
    })
    .sort(
      (one, other) =>
        Number(other.amountEuros - one.amountEuros) || (one.how + one.rule < other.how + other.rule ? -1 : 1),
    )
  const { refundedEuros } = figuresOf(sums.filter(({ view }) => view === 'agent'))
  const keptBackEuros = rules.reduce((all, rule) => all + rule.amountEuros, 0n)
  return {
    keptBack: {
      count: rules.reduce((all, rule) => all + rule.count, 0),
      amountEuros: keptBackEuros,
      rules,
    },
    refundedEuros,
    disputesWon: { count, amountEuros },
    totalEuros: keptBackEuros + refundedEuros + amountEuros,
  }
}

export type Savings = Awaited<ReturnType<typeof savingsOf>>
