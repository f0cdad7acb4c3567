import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectList } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { weightedCache } from '../../values/bounded-cache.ts'
import type { BudgetCounters } from '../budgets/index.ts'
import { type Budget, type CardControls, type CompiledPolicy, compileCardTerms } from '../rules/index.ts'
import { CardTerms } from './card-terms.ts'

export type CardTermsRow = RowOf<CardTerms>

const table = tableOf(CardTerms)

/** The lateral join looks up each by the primary key: while there are few cards, PostgreSQL would read all of them. */
const TERMS = `
select ${selectList(table, 't')} from unnest($3::text[]) as w (id)
cross join lateral (
  select * from card_terms one where (one.owner_id, one.mode, one.id) = ($1, $2, w.id) limit 1) as t`

/** Reads the terms of cards. Their agents are locked: nobody changes them until the transaction ends. */
export async function openCardTerms(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, CardTermsRow>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<CardTermsRow & Row>(TERMS, [ownerId, mode, [...new Set(ids)]])
  return new Map(rows.map(row => [row.id, row]))
}

/** Most list entries of all cached terms together. */
const MAX_CACHED_ENTRIES = 50_000
/** The memory of terms without lists, counted in list entries. */
const BASE_ENTRIES = 10

const listsOf = ({ terms }: CompiledPolicy): number =>
  (terms?.merchantAllowlist.length ?? 0) + (terms?.merchantBlocklist.length ?? 0)

const compiled = weightedCache(MAX_CACHED_ENTRIES, (policy: CompiledPolicy) => BASE_ENTRIES + listsOf(policy))

/** The controls of a card as a decision stores them; without its limit, where that was judged with the intent. */
export const controlsOf = (row: CardControls, isAmountJudged = false): CardControls => ({
  maxTransactionEuros: isAmountJudged ? null : row.maxTransactionEuros,
  merchantAllowlist: row.merchantAllowlist,
  merchantBlocklist: row.merchantBlocklist,
  allowedCountries: row.allowedCountries,
  allowedMccs: row.allowedMccs,
  blockedMccs: row.blockedMccs,
  mccCategories: row.mccCategories,
})

/** The limit for one payment and the controls of a card, ready to decide. */
export const compiledTermsOf = (row: CardTermsRow, isAmountJudged = false): CompiledPolicy =>
  compiled(`${row.id}@${row.version}${isAmountJudged ? '/judged' : ''}`, () =>
    compileCardTerms(controlsOf(row, isAmountJudged)),
  )

/** The limits of a card for the day and the month, as budgets beside the agent's. */
export function cardBudgets(
  { id, dailyLimitEuros, monthlyLimitEuros }: CardTermsRow,
  counters: BudgetCounters,
): Budget[] {
  const { dayEuros, monthEuros } = counters.snapshotOf(id, null)
  const budget = (period: 'day' | 'month', limitEuros: bigint | null, usedEuros: bigint): Budget[] =>
    limitEuros === null ? [] : [{ level: 'card', id, name: id, period, limitEuros, usedEuros }]
  return [...budget('day', dailyLimitEuros, dayEuros), ...budget('month', monthlyLimitEuros, monthEuros)]
}
