import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { addMs, days, utcDay } from '../../../values/clock.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { type FieldChoices, renderField } from './form.ts'
import { renderIcon } from './icons.ts'
import { fieldChoicesFor } from './names.ts'
import { type MemberSchemas, pathParametersOf, queryMemberSchemas } from './schema.ts'
import { formatDay, formatPlainEuros, memberLabelText, valueText } from './text.ts'

export type Filters = Readonly<Record<string, string>>

/** Parameters without a field: some belong to the page, and some to operators. */
const NO_FILTERS = ['limit', 'cursor', 'ownerId', 'mode']

const DAY = /^\d{4}-\d\d-\d\d$/

const isDay = (text: string): boolean => DAY.test(text)

const isRealDay = (text: string): boolean => isDay(text) && !Number.isNaN(Date.parse(text))

const dayAfter = (day: string): string => utcDay(addMs(new Date(day), days(1)))

/** A day in the address stands for its first instant, or as the end of a period for the first instant after it. */
export function instantOfDay(name: string, value: string): string {
  if (!isRealDay(value)) return value
  return `${name === 'to' ? dayAfter(value) : value}T00:00:00.000Z`
}

interface ListFilter {
  readonly label: string
  readonly names: readonly string[]
  /** Empty if the filter is not set. */
  readonly value: string
  readonly presets?: readonly (readonly [words: string, filters: Filters])[] | undefined
}

interface FilterOptions {
  readonly list: AnyOperation
  readonly labels?: Readonly<Record<string, string>>
  readonly filters?: readonly string[]
  readonly ignored?: readonly string[]
}

/** The field of an exact amount. Lists know a least and a greatest one. */
const EXACT = 'exactAmountEuros'

/** The filters of the page. Empty fields of its form set none. */
export function filtersOf({ ignored = [] }: Pick<FilterOptions, 'ignored'>, { query }: PageRequest): Filters {
  const { [EXACT]: exact, ...set } = Object.fromEntries(
    Object.entries(query).filter(([name, value]) => value !== '' && !ignored.includes(name)),
  )
  return exact === undefined ? set : { ...set, minAmountEuros: exact, maxAmountEuros: exact }
}

export const addressWith = (filters: Filters): string => `?${new URLSearchParams(filters)}`

export const withoutFilters = (filters: Filters, names: readonly string[]): Filters =>
  Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name)))

export const unfilteredAddress = (operation: AnyOperation, { query }: PageRequest): string =>
  addressWith(Object.fromEntries(pathParametersOf(operation).map(name => [name, query[name] ?? ''])))

export const hasFilters = (options: FilterOptions, request: PageRequest): boolean =>
  Object.keys(withoutFilters(filtersOf(options, request), ['cursor'])).length >
  pathParametersOf(options.list).length

interface RenderedFilters {
  /** The button that opens the fields, and the search by text. */
  readonly controls: Html
  /** A link for each set filter, which removes it. */
  readonly chips: HtmlContent
}

export async function renderFilters(options: FilterOptions, request: PageRequest): Promise<RenderedFilters> {
  const { list, labels = {} } = options
  const members = queryMemberSchemas(list)
  const names = (options.filters ?? Object.keys(members)).filter(
    name => !NO_FILTERS.includes(name) && name !== 'status',
  )
  const choices = await fieldChoicesFor(names, request)
  const set = filtersOf(options, request)
  const filters = filtersIn(names, { members, labels, choices }, set, request.now)
  const searched = names.find(name => SEARCHED.includes(name))
  const kept = [...pathParametersOf(list), ...(members.status ? ['status'] : [])]
  const hidden = (others: readonly string[]): Html =>
    html`${others.map(name => set[name] !== undefined && html`<input type="hidden" name="${name}" value="${set[name]}">`)}`
  const fieldOf = (name: string): Html =>
    renderField(
      `filter-${name}`,
      name,
      { ...fieldSchema(members[name] ?? AMOUNT), default: undefined },
      {
        values: { ...set, [name]: fieldValue(set[name]) },
        labels: { ...labels, ...rangeLabels },
        choices,
      },
    )
  const inDrop = filters.filter(filter => !filter.names.some(name => name === searched))
  return {
    controls: html`${
      inDrop.length > 0 &&
      html`<details class="filter"><summary class="button">${renderIcon('filter')}Filter</summary>
<form method="get" class="drop" aria-label="Filters">${hidden([...kept, ...(searched ? [searched] : [])])}
${inDrop.map(({ names: [first, ...others], presets }) => html`${presets && html`<p class="presets">${presets.map(([text, days]) => html`<a href="${addressWith({ ...withoutFilters(set, ['from', 'to', 'cursor']), ...days })}">${text}</a> `)}</p>`}<div class="range">${[first ?? '', ...others].map(fieldOf)}</div>`)}
<p class="does"><button type="submit" class="main">Apply</button></p></form></details>`
    }
${searched !== undefined && html`<form method="get" role="search" class="find-in-list">${hidden([...names.filter(name => name !== searched), ...kept])}<input type="search" name="${searched}" value="${set[searched] ?? ''}" placeholder="${labelOf(searched, labels)}" aria-label="${labelOf(searched, labels)}" maxlength="${members[searched]?.maxLength ?? 200}"></form>`}`,
    chips: hasFilters(options, request) && renderChips(filters, set, unfilteredAddress(list, request)),
  }
}

const renderChips = (filters: readonly ListFilter[], set: Filters, unfiltered: string): HtmlContent => {
  const chips = filters.filter(({ value }) => value !== '')
  return (
    chips.length > 0 &&
    html`<nav class="chips" aria-label="Set filters">${chips.map(
      ({ label, value, names }) =>
        html`<a class="chip" href="${addressWith(withoutFilters(set, [...names, 'cursor']))}" aria-label="Remove the filter ${label}: ${value}">${label} <strong>${value}</strong> ×</a>`,
    )}${chips.length > 1 && html`<a class="clear" href="${unfiltered}">Clear</a>`}</nav>`
  )
}

/** Found by typing, so that it has a field beside the filters. */
const SEARCHED = ['merchantContains', 'merchant', 'name', 'q']

const labelOf = (name: string, labels: Readonly<Record<string, string>>): string =>
  labels[name] ?? memberLabelText(name)

const AMOUNT: MemberSchemas[string] = { type: 'number' }

const rangeLabels = {
  from: 'From (UTC)',
  to: 'To (UTC)',
  [EXACT]: 'Exactly (€)',
  minAmountEuros: 'At least (€)',
  maxAmountEuros: 'At most (€)',
}

/** Instants are picked as days. */
const fieldSchema = (schema: MemberSchemas[string]): MemberSchemas[string] =>
  schema.format === 'date-time' ? { type: 'string', format: 'date' } : schema

const fieldValue = (value: string | undefined): string | undefined =>
  value !== undefined && /^\d{4}-\d\d-\d\dT/.test(value) ? value.slice(0, 10) : value

interface Known {
  readonly members: MemberSchemas
  readonly labels: Readonly<Record<string, string>>
  readonly choices: Readonly<Record<string, FieldChoices>>
}

function filtersIn(names: readonly string[], known: Known, set: Filters, now: Date): readonly ListFilter[] {
  const ranges: ListFilter[] = []
  if (names.includes('minAmountEuros'))
    ranges.push({
      label: 'Amount',
      names: [EXACT, 'minAmountEuros', 'maxAmountEuros'],
      value: rangeText(set.minAmountEuros, set.maxAmountEuros, formatTypedEuros),
    })
  if (names.includes('from') && names.includes('to'))
    ranges.push({
      label: 'Date',
      names: ['from', 'to'],
      value: rangeText(fieldValue(set.from), fieldValue(set.to), formatTypedDay),
      presets: presetsAt(now),
    })
  const inRanges = new Set(ranges.flatMap(range => range.names))
  const singles = names
    .filter(name => !inRanges.has(name))
    .map(name => ({
      label: labelOf(name, known.labels),
      names: [name],
      value: shownValue(name, set[name] ?? '', known),
    }))
  return [...ranges, ...singles]
}

function shownValue(name: string, value: string, { members, choices }: Known): string {
  const named = choices[name]?.find(([id]) => id === value)?.[1]
  if (named !== undefined) return named
  const isChoice = members[name]?.enum !== undefined
  return (isChoice ? valueText(value) : value).slice(0, 40)
}

/** An address may say anything: the list itself refuses what is no day and no amount. */
const formatTypedDay = (text: string): string => (isRealDay(text) ? formatDay(text) : text.slice(0, 40))

const formatTypedEuros = (text: string): string =>
  Number.isFinite(Number(text)) ? formatPlainEuros(Number(text)) : text.slice(0, 40)

function rangeText(
  from: string | undefined,
  to: string | undefined,
  format: (text: string) => string,
): string {
  if (from && to) return from === to ? format(from) : `${format(from)} – ${format(to)}`
  if (from) return `from ${format(from)}`
  return to ? `up to ${format(to)}` : ''
}

interface DatePreset {
  readonly words: string
  readonly from: string
  readonly to: string
}

export const lastDays = (count: number, now: Date): DatePreset => ({
  words: `Last ${count} days`,
  from: utcDay(addMs(now, -days(count - 1))),
  to: utcDay(now),
})

export function datePresets(now: Date): readonly DatePreset[] {
  const today = utcDay(now)
  const monthStart = `${today.slice(0, 7)}-01`
  const lastMonthEnd = utcDay(addMs(new Date(monthStart), -days(1)))
  return [
    lastDays(7, now),
    lastDays(30, now),
    { words: 'This month', from: monthStart, to: today },
    { words: 'Last month', from: `${lastMonthEnd.slice(0, 7)}-01`, to: lastMonthEnd },
  ]
}

const presetsAt = (now: Date): ListFilter['presets'] =>
  datePresets(now).map(({ words, from, to }) => [words, { from, to }] as const)
