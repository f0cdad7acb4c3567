import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { type CsvColumns, csvCell } from '../../values/csv.ts'
import { type Cents, formatDecimal, NO_CENTS, sumOf } from '../../values/money.ts'
import { computeSpendFigures, type ReportScope, readAgentNames } from '../reports/index.ts'
import { readSpend, type SpendSnapshot, spendLinesSql, spendQueryParameters } from '../spend/index.ts'

export const preventedSpendKinds = ['denied', 'turned_down', 'declined', 'expired'] as const
type Way = (typeof preventedSpendKinds)[number]

export const savingsGroupings = ['rule', 'agent'] as const

export const savingsViews = ['kept_back', 'agent'] as const

interface Won extends Row {
  readonly count: number
  readonly amountCents: Cents
}

const disputesWonWithin = (from: string, before: string): string => `
from disputes where owner_id = $1 and mode = $2 and status = 'won'
  and resolved_at >= ${from}::date::timestamp at time zone 'UTC' and resolved_at < ${before}::date::timestamp at time zone 'UTC'`

/** A dispute counts with its credit, which never includes a refund of the merchant. */
const WON = `
select count(*)::int as count, coalesce(sum(credited_cents), 0)::bigint as "amountCents" ${disputesWonWithin('$3', '$4')}`

async function disputesWon(sql: Sql, { ownerId, mode }: Tenant, scope: ReportScope): Promise<Won> {
  const { from, before, agentId } = scope
  const values = [ownerId, mode, from, before, ...(agentId === undefined ? [] : [agentId])]
  const [won] = await sql<Won>(agentId === undefined ? WON : `${WON} and agent_id = $5`, values)
  return won ?? { count: 0, amountCents: NO_CENTS }
}

export async function computeSavings(spend: SpendSnapshot, scope: ReportScope) {
  const [sums, { count, amountCents }] = await Promise.all([
    readSpend(spend, { ...scope, views: savingsViews, by: ['view', 'value'] }),
    disputesWon(spend.sql, spend.tenant, scope),
  ])
  const rules = sums
    .filter(({ view }) => view === 'kept_back')
    .map(({ value, payments, spentCents }) => {
      const [how = '', rule = ''] = value.split(' ')
      return { how: how as Way, rule, count: payments, amountCents: spentCents }
    })
    .sort(
      (one, other) =>
        Number(other.amountCents - one.amountCents) || (one.how + one.rule < other.how + other.rule ? -1 : 1),
    )
  const { refundedCents } = computeSpendFigures(sums.filter(({ view }) => view === 'agent'))
  const keptBackCents = sumOf(rules.map(({ amountCents }) => amountCents))
  return {
    keptBack: {
      count: rules.reduce((all, rule) => all + rule.count, 0),
      amountCents: keptBackCents,
      rules,
    },
    refundedCents,
    disputesWon: { count, amountCents },
    totalCents: sumOf([keptBackCents, refundedCents, amountCents]),
  }
}

type Savings = Awaited<ReturnType<typeof computeSavings>>

interface AgentRow extends Row {
  /** Empty if the owner has paid; null for the remaining agents. */
  readonly agentId: string | null
  readonly agents: number
  readonly keptBack: number
  readonly keptBackCents: Cents
  readonly refundedCents: Cents
  readonly won: number
  readonly wonCents: Cents
}

/** Sums and ranks agents in the database, so that few of them leave it, however many there are. */
const textOf = ({ agentId }: ReportScope, most: string): string => `
with ${spendLinesSql({ agentId })},
parts (agent_id, kept, kept_cents, refunded_cents, won, won_cents) as (
  select agent_id, payments, spent_cents, 0, 0, 0 from lines where view = 'kept_back'
  union all select agent_id, 0, 0, refunded_cents, 0, 0 from lines where view = 'agent'
  union all select coalesce(agent_id, ''), 0, 0, 0, 1, credited_cents ${disputesWonWithin('$4', '$5')}
    ${agentId === undefined ? '' : 'and agent_id = $7'}
),
summed as (
  select agent_id, sum(kept) as kept, sum(kept_cents) as kept_cents, sum(refunded_cents) as refunded_cents, sum(won) as won,
    sum(won_cents) as won_cents
  from parts group by 1
),
ranked as (
  select *, row_number() over (order by kept_cents + refunded_cents + won_cents desc, agent_id) as place from summed
  where kept <> 0 or refunded_cents <> 0 or won <> 0
)
select case when place <= ${most}::int then agent_id end as "agentId", count(*)::int as agents, sum(kept)::int as "keptBack",
  sum(kept_cents)::bigint as "keptBackCents", sum(refunded_cents)::bigint as "refundedCents", sum(won)::int as won,
  sum(won_cents)::bigint as "wonCents"
from ranked group by 1 order by min(place)`

const lineOf = ({ keptBack, keptBackCents, refundedCents, won, wonCents }: AgentRow) => ({
  keptBack: { count: keptBack, amountCents: keptBackCents },
  refundedCents,
  disputesWon: { count: won, amountCents: wonCents },
  totalCents: sumOf([keptBackCents, refundedCents, wonCents]),
})

type AgentLine = ReturnType<typeof lineOf>

interface SavingsByAgent {
  readonly agents: (AgentLine & { readonly agentId: string | null; readonly name: string | null })[] | null
  readonly other: (AgentLine & { readonly agents: number }) | null
}

export const noSavingsByAgent: SavingsByAgent = { agents: null, other: null }

export async function savingsByAgent(
  spend: SpendSnapshot,
  scope: ReportScope,
  limit: number,
): Promise<SavingsByAgent> {
  const parameters = spendQueryParameters(spend, { ...scope, views: savingsViews })
  const rows = await spend.sql<AgentRow>(textOf(scope, `$${parameters.length + 1}`), [...parameters, limit])
  const listed = rows.flatMap(row => (row.agentId === null ? [] : { ...row, agentId: row.agentId }))
  const rest = rows.find(({ agentId }) => agentId === null)
  const ids = listed.flatMap(({ agentId }) => agentId || [])
  const names = await readAgentNames(spend, ids)
  return {
    agents: listed.map(row => ({
      agentId: row.agentId || null,
      name: names.get(row.agentId) ?? null,
      ...lineOf(row),
    })),
    other: rest ? { agents: rest.agents, ...lineOf(rest) } : null,
  }
}

interface SavingLine {
  readonly how: string
  readonly rule: string
  readonly agentId: string
  readonly name: string
  readonly count: number | null
  readonly amountCents: Cents
}

export const savingColumns: CsvColumns<SavingLine> = {
  how: ({ how }) => how,
  rule: ({ rule }) => csvCell(rule),
  agentId: ({ agentId }) => agentId,
  name: ({ name }) => csvCell(name),
  count: ({ count }) => (count === null ? '' : String(count)),
  amountCents: ({ amountCents }) => formatDecimal(amountCents),
}

type Told = Pick<Savings, 'refundedCents' | 'disputesWon'>

const gotBack = ({ refundedCents, disputesWon }: Told) => [
  { how: 'refunded', rule: '', count: null, amountCents: refundedCents },
  { how: 'disputes_won', rule: '', ...disputesWon },
]

const OF_ALL = { agentId: '', name: '' }

export function savingCsvLines({ agents, other, ...savings }: Savings & SavingsByAgent): SavingLine[] {
  if (!agents) return [...savings.keptBack.rules, ...gotBack(savings)].map(line => ({ ...line, ...OF_ALL }))
  const lines = [
    ...agents.map(one => ({ ...one, agentId: one.agentId ?? '', name: one.name ?? 'owner' })),
    ...(other ? [{ ...other, agentId: '', name: 'other' }] : []),
  ]
  return lines.flatMap(({ agentId, name, ...one }) =>
    [{ how: 'kept_back', rule: '', ...one.keptBack }, ...gotBack(one)].map(line => ({
      ...line,
      agentId,
      name,
    })),
  )
}
