import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectColumnList } from '../../kernel/database/bulk-sql.ts'
import { nullable, recordColumns, tenantTable, textArrayColumn } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { memoizeByWeight } from '../../values/bounded-cache.ts'
import { type Cents, NO_CENTS, remainderOf } from '../../values/money.ts'
import type { BudgetCounters } from '../budgets/index.ts'
import { type BudgetUsage, type CardControls, type CompiledPolicy, compileCardTerms } from '../rules/index.ts'

export const cardStatuses = ['pending', 'inactive', 'active', 'frozen', 'closed'] as const

const schema = defineEntity({
  ...tenantTable('CardTerms', 'card_terms', 'agentId'),
  properties: {
    ...recordColumns('card'),
    agentId: p.text(),
    status: p.enum(cardStatuses),
    /** The only intent that the card pays; null for any payment within its terms and the agent's policy. */
    intentId: nullable.string(),
    maxTransactionCents: nullable.cents('max_transaction_cents'),
    dailyLimitCents: nullable.cents('daily_limit_cents'),
    monthlyLimitCents: nullable.cents('monthly_limit_cents'),
    merchantAllowlist: personal(textArrayColumn(), 'payment', 'contract', 'empty'),
    merchantBlocklist: personal(textArrayColumn(), 'payment', 'contract', 'empty'),
    allowedCountries: plain(textArrayColumn()),
    allowedMccs: plain(textArrayColumn()),
    blockedMccs: plain(textArrayColumn()),
    mccCategories: plain(textArrayColumn()),
    /** Counts changes of limits and controls. A version never changes, so it is compiled once. */
    version: p.integer().onCreate(() => 1),
  },
})

/**
 * The part of a card on which a spend depends: its agent, status, limits and controls. Its id is the card's.
 * The cards, which come after the intents in the import order, write it, and every change locks the agent
 * first.
 */
export class CardTerms extends schema.class {}
schema.setClass(CardTerms)

export type CardTermsRow = RowOf<CardTerms>

const table = tableOf(CardTerms)

/** The lateral join finds each row by the primary key. With few cards, PostgreSQL would otherwise read all of them. */
const TERMS = `
select ${selectColumnList(table, 't')} from unnest($3::text[]) as w (id)
cross join lateral (
  select * from card_terms one where (one.owner_id, one.mode, one.id) = ($1, $2, w.id) limit 1) as t`

/** The caller has locked the cards' agents, so the terms do not change until the transaction ends. */
export async function loadCardTerms(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CardTermsRow>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<CardTermsRow & Row>(TERMS, [ownerId, mode, [...new Set(ids)]])
  return new Map(rows.map(row => [row.id, row]))
}

/** Bounds the cache by the list entries of all cached terms. */
const MAX_CACHED_ENTRIES = 50_000
const BASE_ENTRIES = 10

const listsOf = ({ terms }: CompiledPolicy): number =>
  (terms?.merchantAllowlist.length ?? 0) + (terms?.merchantBlocklist.length ?? 0)

const compiled = memoizeByWeight(
  MAX_CACHED_ENTRIES,
  (policy: CompiledPolicy) => BASE_ENTRIES + listsOf(policy),
)

/** The controls that a decision stores. Omits the limit for one payment if the intent was judged by it. */
export const cardControlsFromTerms = (row: CardControls, isAmountJudged = false): CardControls => ({
  maxTransactionCents: isAmountJudged ? null : row.maxTransactionCents,
  merchantAllowlist: row.merchantAllowlist,
  merchantBlocklist: row.merchantBlocklist,
  allowedCountries: row.allowedCountries,
  allowedMccs: row.allowedMccs,
  blockedMccs: row.blockedMccs,
  mccCategories: row.mccCategories,
})

export const compileStoredCardTerms = (row: CardTermsRow, isAmountJudged = false): CompiledPolicy =>
  compiled(`${row.id}@${row.version}${isAmountJudged ? '/judged' : ''}`, () =>
    compileCardTerms(cardControlsFromTerms(row, isAmountJudged)),
  )

/** What other payments have used: not the part of this one that has counted before. */
export function cardBudgets(
  { id, dailyLimitCents, monthlyLimitCents }: CardTermsRow,
  counters: BudgetCounters,
  countedBefore: Cents = NO_CENTS,
): BudgetUsage[] {
  const { dayCents, monthCents } = counters.snapshotOf(id, null)
  const budget = (period: 'day' | 'month', limitCents: Cents | null, used: Cents): BudgetUsage[] => {
    const usedCents = remainderOf(used, countedBefore)
    return limitCents === null ? [] : [{ level: 'card', id, name: id, period, limitCents, usedCents }]
  }
  return [...budget('day', dailyLimitCents, dayCents), ...budget('month', monthlyLimitCents, monthCents)]
}
