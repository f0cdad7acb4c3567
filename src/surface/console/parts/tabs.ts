import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import type { Row } from '../../../values/members.ts'
import { type Html, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { addressWith, type Filters, withoutFilters } from './filters.ts'
import { answerMemberSchemas, queryMemberSchemas } from './schema.ts'
import type { StateWords } from './table.ts'
import { stateText, sumEuros } from './text.ts'

/** How many records match, by status. If not all were counted, each number is a minimum. */
export interface ListSummary {
  readonly counts: Readonly<Record<string, number>>
  readonly count: number
  readonly isMinimum: boolean
  /** The amounts of the listed records, where they have one. */
  readonly amountEuros?: number
}

export const statesOf = (list: AnyOperation): readonly string[] => queryMemberSchemas(list).status?.enum ?? []

const COUNTED = 100

/** Counts the newest hundred records that match. */
export async function summarizeNewest(
  ask: (limit: number) => Promise<{ readonly data: readonly Row[]; readonly hasMore: boolean }>,
  list: AnyOperation,
  status: string | undefined,
): Promise<ListSummary> {
  const { data, hasMore } = await ask(COUNTED)
  const counts: Record<string, number> = {}
  for (const { status: state } of data) counts[String(state)] = (counts[String(state)] ?? 0) + 1
  const listed = status === undefined ? data : data.filter(row => row.status === status)
  const amounts = listed.map(({ amountEuros }) => Number(amountEuros))
  return {
    counts,
    count: data.length,
    isMinimum: hasMore,
    ...(answerMemberSchemas(list).amountEuros && { amountEuros: sumEuros(amounts) }),
  }
}

const number = new Intl.NumberFormat('en-GB')

export const countText = (count: number, isMinimum: boolean): string =>
  `${number.format(count)}${isMinimum ? '+' : ''}`

export function renderStatusTabs(
  states: readonly string[],
  words: StateWords,
  filters: Filters,
  { summary, earlier }: { readonly summary: ListSummary | undefined; readonly earlier: readonly Html[] },
): Html {
  const others = withoutFilters(filters, ['status', 'cursor'])
  const tab = (state: string | undefined, name: string, count: number | undefined): Html =>
    html`<a href="${addressWith(state === undefined ? others : { ...others, status: state })}"${filters.status === state && html` aria-current="true"`}>${name}${summary && (count ?? 0) > 0 && html` <span class="count">${countText(count ?? 0, summary.isMinimum)}</span>`}</a>`
  return html`<nav class="states" aria-label="Status">${tab(undefined, 'All', summary?.count)}${earlier}${states.map(
    state => tab(state, stateText(state, words), summary?.counts[state]),
  )}</nav>`
}

export type SummaryOf = (filters: Filters, request: PageRequest) => Promise<ListSummary>
