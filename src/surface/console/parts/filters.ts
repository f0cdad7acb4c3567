import type { AnyOperation } from '../../../kernel/contract/operation.ts'
import { addMs, days, utcDay } from '../../../values/clock.ts'
import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import type { PageRequest } from '../page.ts'
import { type FieldChoices, renderField } from './form.ts'
import { fieldChoicesFor } from './names.ts'
import { type MemberSchemas, pathParametersOf, queryMemberSchemas } from './schema.ts'
import { formatDay, formatPlainEuros, humanize, memberLabelText } from './text.ts'

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

interface Chip {
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

/** The filters of the page. Empty fields of its form set none. */
export const filtersOf = (
  { ignored = [] }: Pick<FilterOptions, 'ignored'>,
  { query }: PageRequest,
): Filters =>
  Object.fromEntries(Object.entries(query).filter(([name, value]) => value !== '' && !ignored.includes(name)))

export const addressWith = (filters: Filters): string => `?${new URLSearchParams(filters)}`

export const withoutFilters = (filters: Filters, names: readonly string[]): Filters =>
  Object.fromEntries(Object.entries(filters).filter(([name]) => !names.includes(name)))

export const unfilteredAddress = (operation: AnyOperation, { query }: PageRequest): string =>
  addressWith(Object.fromEntries(pathParametersOf(operation).map(name => [name, query[name] ?? ''])))

export const hasFilters = (options: FilterOptions, request: PageRequest): boolean =>
  Object.keys(withoutFilters(filtersOf(options, request), ['cursor'])).length >
  pathParametersOf(options.list).length

const PRIMARY = 5

/** A chip opens the field of a filter, and shows its value. The rarely used ones are behind the last chip. */
export async function renderFilterChips(
  options: FilterOptions,
  exports: HtmlContent,
  request: PageRequest,
): Promise<Html> {
  const { list, labels = {} } = options
  const members = queryMemberSchemas(list)
  const names = (options.filters ?? Object.keys(members)).filter(
    name => !NO_FILTERS.includes(name) && name !== 'status',
  )
  const choices = await fieldChoicesFor(names, request)
  const chips = chipsOf(names, { members, labels, choices }, request)
  const shown = chips.length > PRIMARY + 1 ? chips.slice(0, PRIMARY) : chips
  const rest = chips.slice(shown.length)
  const set = filtersOf(options, request)
  const kept = [...pathParametersOf(list), ...(members.status ? ['status'] : [])]
  const fieldsOf = (chip: Chip): Html =>
    html`${chip.names.map(name =>
      renderField(
        `filter-${name}`,
        name,
        { ...fieldSchema(members[name] ?? {}), default: undefined },
        {
          values: { ...request.query, [name]: fieldValue(request.query[name]) },
          labels: { ...labels, ...(chip.names.length > 1 && rangeLabels) },
          choices,
        },
      ),
    )}`
  return html`<form method="get" class="chips" aria-label="Filters">
${kept.map(name => set[name] !== undefined && html`<input type="hidden" name="${name}" value="${set[name]}">`)}
${shown.map(chip => renderChip(chip, fieldsOf(chip), set))}
${rest.length > 0 && renderChip(restOf(rest), html`${rest.map(fieldsOf)}`, set)}
${hasFilters(options, request) && html`<a class="clear" href="${unfilteredAddress(list, request)}">Clear</a>`}
${exports}
</form>`
}

const restOf = (chips: readonly Chip[]): Chip => ({
  label: 'More filters',
  names: chips.flatMap(({ names }) => names),
  value: chips.flatMap(({ value, label }) => (value === '' ? [] : `${label} ${value}`)).join(', '),
})

function renderChip({ label, names, value, presets }: Chip, fields: Html, set: Filters): Html {
  const others = withoutFilters(set, [...names, 'cursor'])
  return html`<details class="chip" name="chip"${value !== '' && html` data-set`}><summary>${label}${value !== '' && html` <strong>${value}</strong>`}</summary>
<div class="drop">${presets && html`<p class="presets">${presets.map(([words, filters]) => html`<a href="${addressWith({ ...others, ...filters })}">${words}</a> `)}</p>`}
${fields}
<p class="does"><button type="submit" class="main">Apply</button>${value !== '' && html` <a href="${addressWith(others)}">Remove</a>`}</p></div></details>`
}

const rangeLabels = {
  from: 'From (UTC)',
  to: 'To (UTC)',
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

function chipsOf(names: readonly string[], known: Known, request: PageRequest): Chip[] {
  const { query } = request
  const ranges: Chip[] = []
  if (names.includes('from') && names.includes('to'))
    ranges.push({
      label: 'Date',
      names: ['from', 'to'],
      value: rangeText(fieldValue(query.from), fieldValue(query.to), formatTypedDay),
      presets: presetsAt(request.now),
    })
  if (names.includes('minAmountEuros'))
    ranges.push({
      label: 'Amount',
      names: ['minAmountEuros', 'maxAmountEuros'],
      value: rangeText(query.minAmountEuros, query.maxAmountEuros, formatTypedEuros),
    })
  const inRanges = new Set(ranges.flatMap(range => range.names))
  const singles = names
    .filter(name => !inRanges.has(name))
    .map(name => ({
      label: known.labels[name] ?? memberLabelText(name),
      names: [name],
      value: valueText(name, query[name] ?? '', known),
    }))
  const isCommon = ({ names: [name = ''] }: Chip): boolean => COMMON.includes(name)
  return [...singles.filter(isCommon), ...ranges, ...singles.filter(chip => !isCommon(chip))]
}

/** The filters that most readers look for come first. */
const COMMON = ['merchantContains', 'name', 'q']

function valueText(name: string, value: string, { members, choices }: Known): string {
  const named = choices[name]?.find(([id]) => id === value)?.[1]
  if (named !== undefined) return named
  const isChoice = members[name]?.enum !== undefined
  return (isChoice ? humanize(value) : value).slice(0, 40)
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

const presetsAt = (now: Date): Chip['presets'] =>
  datePresets(now).map(({ words, from, to }) => [words, { from, to }] as const)
