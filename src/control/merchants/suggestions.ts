import type { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { type Euros, formatEuros } from '../../values/money.ts'
import { findAgent } from '../agents/index.ts'
import type { merchantsApi } from './api.ts'
import { foldMerchant, lookOf, matcher } from './matcher.ts'
import { patternProblem } from './patterns.ts'

// Back along the agent's own index no further than so many records, whatever became of them.
const SPENDS = `
with paid as (
  select merchant, amount_cents, created_at, type, status from transactions
  where owner_id = $1 and mode = $2 and agent_id = $3 and ($4::text is null or exists (
    select from intents i where i.id = intent_id and i.delegation_id = $4))
  order by id desc limit 2000
)
select merchant, count(*)::int as "spends", sum(amount_cents)::bigint as "amountEuros", max(created_at) as "lastUsedAt"
from paid
where type not in ('refund', 'fee') and status not in ('authorization', 'declined', 'refunded')
group by merchant order by max(created_at) desc`

const LISTS = `
select merchant_allowlist as allow, merchant_blocklist as block from policies
where owner_id = $1 and mode = $2 and agent_id = $3 and deleted_at is null`

interface Spent {
  merchant: string
  spends: number
  amountEuros: Euros
  lastUsedAt: Date
}

/** Both spellings of one merchant are one; it is called as it was last. */
function together(rows: readonly Spent[]): Spent[] {
  const merchants = new Map<string, Spent>()
  for (const row of rows) {
    const key = foldMerchant(row.merchant)
    const known = merchants.get(key)
    if (known) {
      known.spends += row.spends
      known.amountEuros += row.amountEuros
    } else merchants.set(key, { ...row })
  }
  return [...merchants.values()].sort(byUse)
}

const byUse = (a: Spent, b: Spent): number =>
  b.spends - a.spends || Number(b.amountEuros - a.amountEuros) || (a.merchant < b.merchant ? -1 : 1)

type Suggestion = z.output<(typeof merchantsApi.suggestions.returns)[1]>['data'][number]

/** Why this one is better not suggested; undefined where nothing speaks against it. */
function objection(one: Spent, block: string | undefined, allowed: boolean, twin: string | undefined) {
  if (block !== undefined) return `The blocklist has ${block}; it wins.`
  if (allowed) return 'The allowlist has it already.'
  if (twin !== undefined) return `It looks like ${twin}, and is written otherwise.`
  if (one.spends === 1) return 'Paid once only.'
  const problem = patternProblem(foldMerchant(one.merchant))
  return problem && `It cannot be written into an allowlist: it ${problem}.`
}

async function suggest(
  { sql, actor, tenant: { ownerId, mode } }: Pick<Context, 'sql' | 'actor' | 'tenant'>,
  agentId: string,
): Promise<(Suggestion & { id: string })[]> {
  const spent = together(await sql<Spent & Row>(SPENDS, [ownerId, mode, agentId, actor.delegationId ?? null]))
  const [lists] = await sql<{ allow: string[]; block: string[] }>(LISTS, [ownerId, mode, agentId])
  const allows = matcher(lists?.allow ?? [])
  const blocks = matcher(lists?.block ?? [], { lookalikes: true })
  // Those that are paid most come first: of two that look the same, the later one is the one to be wary of.
  const looks = new Map<string, string>()
  return spent.map(one => {
    const { merchant } = one
    const pattern = foldMerchant(merchant)
    const look = lookOf(merchant)
    const twin = looks.get(look)
    looks.set(look, twin ?? merchant)
    const allowed = allows(merchant) !== undefined
    const against = objection(one, blocks(merchant), allowed, twin)
    const reason = against ?? `Paid ${one.spends} times, ${formatEuros(one.amountEuros)} in all.`
    return { ...one, id: pattern, pattern, allowed, suggested: against === undefined, reason }
  })
}

export const suggestions: HandlerOf<typeof merchantsApi.suggestions> = async ({ query }, context) => {
  const agentId = query.agentId ?? context.actor.agentId
  if (!agentId) return context.refuse('agent_required')
  if (!(await findAgent(context.em, agentId))) return context.refuse('agent_not_found')
  return context.pageOf(await suggest(context, agentId))
}
