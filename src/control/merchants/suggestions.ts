import type { z } from 'zod'
import type { Context, Tenant } from '../../kernel/context.ts'
import type { Row, Sql } from '../../kernel/database.ts'
import { type Euros, inWords } from '../../kernel/money.ts'
import type { HandlerOf } from '../../kernel/operation.ts'
import { findAgent } from '../agents/agents.ts'
import type { merchantsApi } from './api.ts'
import { glance } from './confusables.ts'
import { foldMerchant, matcher } from './matcher.ts'

// Each half goes back along the agent's own index no further than so many records, whatever became of them.
const SPENDS = `
with paid as (
  select merchant, amount_cents, created_at, type, status from transactions
  where owner_id = $1 and mode = $2 and agent_id = $3 order by id desc limit 2000
), meant as (
  select merchant, amount_cents, created_at, status, transaction_id from intents
  where owner_id = $1 and mode = $2 and agent_id = $3 order by id desc limit 2000
)
select merchant, count(*)::int as "spends", sum(amount_cents)::bigint as "amountEuros", max(created_at) as "lastUsedAt"
from (
  select merchant, amount_cents, created_at from paid
  where type not in ('refund', 'fee') and status not in ('declined', 'refunded')
  union all
  select merchant, amount_cents, created_at from meant
  where status in ('approved', 'completed') and transaction_id is null
) as spent
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

type Suggestion = z.output<(typeof merchantsApi.suggestions.returns)[1]>['data'][number] & { id: string }

const ONCE = 'Paid once only.'

async function suggest(sql: Sql, { ownerId, mode }: Tenant, agentId: string): Promise<Suggestion[]> {
  const spent = together(await sql<Spent & Row>(SPENDS, [ownerId, mode, agentId]))
  const [lists] = await sql<{ allow: string[]; block: string[] }>(LISTS, [ownerId, mode, agentId])
  const allowedAs = matcher(lists?.allow ?? [])
  const blockedAs = matcher(lists?.block ?? [], { lookalikes: true })
  // Those that are paid most come first: a later one that only looks the same is the one to be wary of.
  const seen = new Map<string, string>()
  return spent.map(one => {
    const pattern = foldMerchant(one.merchant)
    const look = glance(pattern)
    const original = seen.get(look)
    if (!original) seen.set(look, one.merchant)
    const allowed = allowedAs(one.merchant) !== undefined
    const block = blockedAs(one.merchant)
    const against =
      (block !== undefined && `The blocklist has ${block}; it wins.`) ||
      (allowed && 'The allowlist has it already.') ||
      (original && `It looks like ${original}, and is written otherwise.`) ||
      (one.spends === 1 && ONCE)
    const reason = against || `Paid ${one.spends} times, ${inWords(one.amountEuros)} in all.`
    return { ...one, id: pattern, pattern, allowed, suggested: !against, reason }
  })
}

export const suggestions: HandlerOf<typeof merchantsApi.suggestions> = async (
  { query: { agentId } },
  { em, sql, tenant, pageOf, refuse }: Context<'agent_not_found'>,
) => {
  if (!(await findAgent(em, agentId))) return refuse('agent_not_found')
  return pageOf(await suggest(sql, tenant, agentId))
}
