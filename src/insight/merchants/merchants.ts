import type { z } from 'zod'
import { findAgent } from '../../control/agents/index.ts'
import {
  groupsOfMcc,
  mccsOfGroup,
  merchantCategories,
  merchantSkeleton,
  normalizeMerchant,
  patternProblem,
  payeeMatcher,
  resolveDescriptor,
} from '../../control/merchants/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { bindHandlers, type HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { sha256 } from '../../values/digest.ts'
import { addCents, type Cents, formatMoney } from '../../values/money.ts'
import { merchantsApi } from './api.ts'

// Reads the agent's latest 2,000 records by its index, in any status, so that the cost does not grow with the
// history.
const SPENDS = `
with paid as (
  select merchant, amount_cents, created_at, type, status from transactions
  where owner_id = $1 and mode = $2 and agent_id = $3 and ($4::text is null or exists (
    select from intents i where (i.owner_id, i.mode, i.id, i.delegation_id) = ($1, $2, intent_id, $4)))
  order by id desc limit 2000
)
select merchant, count(*)::int as "spends", sum(amount_cents)::bigint as "amountCents", max(created_at) as "lastUsedAt"
from paid
where type not in ('refund', 'fee') and status not in ('authorization', 'declined', 'refunded')
group by merchant order by max(created_at) desc`

const LISTS = `
select merchant_allowlist as allow, merchant_blocklist as block from policies
where owner_id = $1 and mode = $2 and agent_id = $3 and deleted_at is null`

interface MerchantSpend {
  merchant: string
  spends: number
  amountCents: Cents
  lastUsedAt: Date
}

/** Adds up the spellings of each merchant under the latest one, in which order the rows come. */
function mergeSpellings(rows: readonly MerchantSpend[]): MerchantSpend[] {
  const merchants = new Map<string, MerchantSpend>()
  for (const row of rows) {
    const key = normalizeMerchant(row.merchant)
    const merged = merchants.get(key)
    if (merged) {
      merged.spends += row.spends
      merged.amountCents = addCents(merged.amountCents, row.amountCents)
    } else merchants.set(key, { ...row })
  }
  return [...merchants.values()].sort((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1))
}

/**
 * The most used come first. The rank is short enough for a cursor, and a page goes on behind it even if its merchant is no
 * longer listed.
 */
function rankOf({ merchant, spends, amountCents }: MerchantSpend): string {
  const name = sha256(normalizeMerchant(merchant)).toString('hex', 0, 8)
  return `${10_000 - spends} ${10n ** 18n - amountCents} ${name}`
}

type Suggestion = z.output<(typeof merchantsApi.suggestions.returns)[1]>['data'][number]

function objectionTo(
  { merchant, spends }: MerchantSpend,
  blockPattern: string | undefined,
  isAllowed: boolean,
  lookalike: string | undefined,
): string | undefined {
  if (blockPattern !== undefined) return `The blocklist contains ${blockPattern}, and takes precedence.`
  if (isAllowed) return 'The allowlist already contains it.'
  if (lookalike !== undefined) return `The name looks like ${lookalike}, but is spelled differently.`
  if (spends === 1) return 'Paid only once.'
  const problem = patternProblem(normalizeMerchant(merchant))
  return problem && `The name cannot be an allowlist entry: it ${problem}.`
}

async function suggest(
  { sql, actor, tenant: { ownerId, mode } }: ReadContext,
  agentId: string,
): Promise<(Suggestion & { id: string })[]> {
  const rows = await sql<MerchantSpend & Row>(SPENDS, [ownerId, mode, agentId, actor.delegationId ?? null])
  const [lists] = await sql<{ allow: string[]; block: string[] }>(LISTS, [ownerId, mode, agentId])
  const findAllowed = payeeMatcher(lists?.allow ?? [])
  const findBlocked = payeeMatcher(lists?.block ?? [], { lookalikes: true })
  // The merchants with the highest payments come first: of two that look the same, the later one is the
  // suspicious one.
  const firstBySkeleton = new Map<string, string>()
  return mergeSpellings(rows).map(spend => {
    const { merchant } = spend
    const pattern = normalizeMerchant(merchant)
    const skeleton = merchantSkeleton(merchant)
    const lookalike = firstBySkeleton.get(skeleton)
    firstBySkeleton.set(skeleton, lookalike ?? merchant)
    const allowed = findAllowed(merchant) !== undefined
    const objection = objectionTo(spend, findBlocked(merchant), allowed, lookalike)
    const reason = objection ?? `Paid ${spend.spends} times, ${formatMoney(spend.amountCents)} in all.`
    return { ...spend, id: rankOf(spend), pattern, allowed, suggested: objection === undefined, reason }
  })
}

const suggestions: HandlerOf<typeof merchantsApi.suggestions> = async ({ query }, context) => {
  const agentId = query.agentId ?? context.actor.agentId
  if (!agentId) return context.refuse('agent_required')
  if (!(await findAgent(context.em, agentId))) return context.refuse('agent_not_found')
  const all = await suggest(context, agentId)
  return context.pageBy(async (after = '', most) => all.filter(({ id }) => id > after).slice(0, most))
}

const categoryRecords = merchantCategories.map(category => ({
  ...category,
  id: category.code,
  groups: groupsOfMcc(category.code),
}))

const merchants = bindHandlers(merchantsApi, {
  resolve: ({ query }) => resolveDescriptor(query.q),

  mcc({ query: { group, q = '' } }, { pageOf }) {
    const members = group === undefined ? undefined : mccsOfGroup(group)
    const text = q.trim().toLowerCase()
    return pageOf(
      categoryRecords.filter(
        ({ code, description }) =>
          (members?.includes(code) ?? true) &&
          (code.startsWith(text) || description.toLowerCase().includes(text)),
      ),
    )
  },

  category: ({ params }, { refuse }) =>
    categoryRecords.find(({ code }) => code === params.code) ?? refuse('mcc_not_found'),

  suggestions,
})

export const merchantsArea = area(
  'Merchants',
  'Payees: categories, the names behind descriptors, and suggestions for allowlists.',
  merchants,
)
