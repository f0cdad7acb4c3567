import { type Html, type HtmlContent, html } from '../../../web/html.ts'
import { formatPlainEuros } from './text.ts'

const WIDTH = 1_000
const HEIGHT = 200
/** The minimum height of an amount above zero, so that it is visible. */
const LEAST = 1.5

interface ChartText {
  readonly id: string
  readonly title: string
  readonly description: string
  readonly legend: readonly (readonly [kind: string, words: string])[]
  readonly table: Html
  /** Opens the table at first, if it says more than the drawing. */
  readonly isOpen?: boolean
}

/** A bar at one point in time. Spending goes upwards, refunds go downwards. */
export interface ChartBar {
  readonly name: string
  readonly up: number
  readonly down: number
}

export interface FanChartDay {
  readonly name: string
  readonly spent?: number
  readonly forecast?: { readonly p10: number; readonly p50: number; readonly p90: number }
}

export function renderBarChart(items: readonly ChartBar[], words: ChartText): Html {
  const { top, scale } = scaleOf(
    items.map(({ up }) => up),
    items.map(({ down }) => down),
  )
  const drawn = items.map(({ name, up, down }, place) => [
    barAt(place, items.length, 'up', {
      y: scale(up),
      height: scale(0) - scale(up),
      title: `${name}: ${formatPlainEuros(up)}`,
    }),
    barAt(place, items.length, 'down', {
      y: scale(0),
      height: scale(-down) - scale(0),
      title: `${name}: ${formatPlainEuros(down)} refunded`,
    }),
  ])
  return figure(html`${lines(top, scale)}${drawn}`, top, items, words)
}

export function renderFanChart(days: readonly FanChartDay[], words: ChartText): Html {
  const { top, scale } = scaleOf(days.map(({ spent, forecast }) => Math.max(spent ?? 0, forecast?.p90 ?? 0)))
  const spent = days.map(({ name, spent: amount = 0 }, place) =>
    barAt(place, days.length, 'up', {
      y: scale(amount),
      height: scale(0) - scale(amount),
      title: `${name}: ${formatPlainEuros(amount)}`,
    }),
  )
  const first = days.findIndex(({ forecast }) => forecast !== undefined)
  const forecasts = days.flatMap(day => day.forecast ?? [])
  const stepsOf = (amounts: readonly number[]): string[] =>
    amounts.flatMap((amount, n) =>
      [first + n, first + n + 1].map(place => `${rounded((place / days.length) * WIDTH)} ${scale(amount)}`),
    )
  const edges = [
    ...stepsOf(forecasts.map(({ p90 }) => p90)),
    ...stepsOf(forecasts.map(({ p10 }) => p10)).reverse(),
  ]
  const band =
    forecasts.length > 0 &&
    html`<path class="band" d="M${edges.join('L')}Z"/>
<path class="middle" d="M${stepsOf(forecasts.map(({ p50 }) => p50)).join('L')}"/>`
  return figure(html`${lines(top, scale)}${spent}${band}`, top, days, words)
}

const rounded = (value: number): number => Math.round(value * 100) / 100

/** The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below the amount. */
function roundAbove(amount: number): number {
  if (amount <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(amount))
  return ([1, 2, 2.5, 5].find(times => times * power >= amount) ?? 10) * power
}

function scaleOf(ups: readonly number[], downs: readonly number[] = []) {
  const top = roundAbove(Math.max(0, ...ups))
  const whole = top + Math.max(0, ...downs)
  return { top, scale: (amount: number): number => rounded(((top - amount) / whole) * HEIGHT) }
}

interface Extent {
  readonly y: number
  readonly height: number
  readonly title: string
}

function barAt(place: number, count: number, kind: 'up' | 'down', { y, height, title }: Extent): HtmlContent {
  if (height <= 0) return false
  const drawn = Math.max(height, LEAST)
  const from = kind === 'up' ? y + height - drawn : y
  const slot = WIDTH / count
  return html`<rect class="${kind}" x="${rounded((place + 0.1) * slot)}" y="${rounded(from)}" width="${rounded(slot * 0.8)}" height="${rounded(drawn)}"><title>${title}</title></rect>`
}

const lines = (top: number, scale: (amount: number) => number): Html =>
  html`${[top, top / 2, 0].map(amount => html`<line class="${amount === 0 ? 'zero' : 'grid'}" x1="0" x2="${WIDTH}" y1="${scale(amount)}" y2="${scale(amount)}"/>`)}`

/** Scale and ends are text of the page, so that they keep the size of text on every screen. */
function figure(
  drawing: Html,
  top: number,
  items: readonly { readonly name: string }[],
  { id, title, description, legend, table, isOpen }: ChartText,
): Html {
  return html`<figure class="chart">
<p class="scale">Up to ${formatPlainEuros(top)}</p>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-labelledby="${id}-title ${id}-description">
<title id="${id}-title">${title}</title>
<desc id="${id}-description">${description}</desc>
${drawing}
</svg>
<p class="ends"><span>${items[0]?.name}</span> <span>${items.length > 1 && items.at(-1)?.name}</span></p>
<figcaption>${legend.map(([kind, words]) => html`<span class="key ${kind}">${words}</span> `)}</figcaption>
<details class="more figures"${isOpen === true && html` open`}><summary>View as table</summary>${table}</details>
</figure>`
}
