import type { Row } from '../../kernel/contract/sql.ts'
import type { Euros } from '../../values/money.ts'
import { namesOfAgents, type ReportScope } from '../reports/index.ts'
import { linesOf, parametersOf, type Spend } from '../spend/index.ts'
import { disputesWonWithin, savingsViews } from './savings.ts'

/** The savings of an agent, or of all that are not told one by one. */
interface AgentRow extends Row {
  /** Empty where the owner has paid. Null: the rest. */
  readonly agentId: string | null
  readonly agents: number
  readonly keptBack: number
  readonly keptBackEuros: Euros
  readonly refundedEuros: Euros
  readonly won: number
  readonly wonEuros: Euros
}

/** Agents are summed and ranked in the database: however many there are, few of them leave it. */
const textOf = ({ agentId }: ReportScope, most: string): string => `
with ${linesOf({ agentId })},
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
  sum(kept_cents)::bigint as "keptBackEuros", sum(refunded_cents)::bigint as "refundedEuros", sum(won)::int as won,
  sum(won_cents)::bigint as "wonEuros"
from ranked group by 1 order by min(place)`

const lineOf = ({ keptBack, keptBackEuros, refundedEuros, won, wonEuros }: AgentRow) => ({
  keptBack: { count: keptBack, amountEuros: keptBackEuros },
  refundedEuros,
  disputesWon: { count: won, amountEuros: wonEuros },
  totalEuros: keptBackEuros + refundedEuros + wonEuros,
})

type Line = ReturnType<typeof lineOf>

/** The same by agent, where that is asked for: together they are the savings of all. */
export interface SavingsByAgent {
  readonly agents: (Line & { readonly agentId: string | null; readonly name: string | null })[] | null
  readonly other: (Line & { readonly agents: number }) | null
}

export const notByAgent: SavingsByAgent = { agents: null, other: null }

export async function savingsByAgent(
  spend: Spend,
  scope: ReportScope,
  limit: number,
): Promise<SavingsByAgent> {
  const parameters = parametersOf(spend, { ...scope, views: savingsViews })
  const rows = await spend.sql<AgentRow>(textOf(scope, `$${parameters.length + 1}`), [...parameters, limit])
  const told = rows.flatMap(row => (row.agentId === null ? [] : { ...row, agentId: row.agentId }))
  const rest = rows.find(({ agentId }) => agentId === null)
  const ids = told.flatMap(({ agentId }) => agentId || [])
  const names = await namesOfAgents(spend, ids)
  return {
    agents: told.map(row => ({
      agentId: row.agentId || null,
      name: names.get(row.agentId) ?? null,
      ...lineOf(row),
    })),
    other: rest ? { agents: rest.agents, ...lineOf(rest) } : null,
  }
}
