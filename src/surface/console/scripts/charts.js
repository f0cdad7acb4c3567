// Draws the charts of a page: bars and lines of amounts, with four ticks, dates, and the figures under the pointer.

import { element } from './dialogs.js'
import { all } from './page.js'
import UPlot from './uplot.js'

const HEIGHT = 240
const TICK_PX = 84
const STEPS = 3

const exact = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' })
const short = new Intl.NumberFormat('en-GB', {
  style: 'currency',
  currency: 'EUR',
  notation: 'compact',
  maximumFractionDigits: 1,
})

/** The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below the amount. */
function roundAbove(amount) {
  if (amount <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(amount))
  return ([1, 2, 2.5, 5].find(times => times * power >= amount) ?? 10) * power
}

/** Ticks from zero to above the highest amount, and below zero where there are refunds. */
export function ticksFor(series) {
  const values = series.flatMap(one => one.values.map(value => (one.kind === 'down' ? -value : value)))
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const step = roundAbove(Math.max(high, -low) / STEPS)
  const below = Math.ceil(-low / step)
  const above = Math.max(Math.ceil(high / step), low < 0 ? 1 : STEPS)
  return Array.from({ length: below + above + 1 }, (_, n) => (n - below) * step)
}

/** Resolves a colour of the style sheet for the canvas. */
function colourOf(name, plot) {
  const probe = element('i', { 'data-own': '', hidden: '' })
  probe.style.color = `var(--${name})`
  plot.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const bars = UPlot.paths.bars({ size: [0.72, 44] })

function lookOf(kind, plot) {
  const colour = name => colourOf(name, plot)
  const edge = { stroke: 'transparent', points: { show: false } }
  const looks = {
    bars: () => ({ paths: bars, fill: colour('accent'), width: 0, points: { show: false } }),
    down: () => ({ paths: bars, fill: colour('get'), width: 0, points: { show: false } }),
    line: () => ({ stroke: colour('get'), width: 2, points: { show: false } }),
    before: () => ({ stroke: colour('faint'), width: 1.5, dash: [5, 4], points: { show: false } }),
    high: () => edge,
    low: () => edge,
  }
  return looks[kind]()
}

/** @returns {UPlot.Band[]} */
function bandsOf(series, plot) {
  const placeOf = kind => series.findIndex(one => one.kind === kind) + 1
  const [high, low] = [placeOf('high'), placeOf('low')]
  return high && low ? [{ series: [high, low], fill: colourOf('band', plot) }] : []
}

/** A small box beside the pointer with the name and the amounts of the point. */
function tip({ points, series }) {
  const box = element('div', { class: 'tip', hidden: '' })
  const show = chart => {
    const { idx, left } = chart.cursor
    box.hidden = idx === null || idx === undefined || left < 0
    if (box.hidden) return
    const lines = series
      .filter(({ values }) => values[idx] !== null && values[idx] !== undefined)
      .map(({ name, values }) =>
        element('div', {}, element('span', {}, name), element('b', {}, exact.format(values[idx]))),
      )
    box.replaceChildren(element('strong', {}, points[idx]), ...lines)
    const isRight = left > chart.over.clientWidth / 2
    box.style.left = isRight ? 'auto' : `${left + 14}px`
    box.style.right = isRight ? `${chart.over.clientWidth - left + 14}px` : 'auto'
  }
  return { hooks: { init: chart => chart.over.append(box), setCursor: show } }
}

/** @returns {UPlot.Options} */
function optionsOf(chart, plot) {
  const { points, series } = chart
  const ticks = ticksFor(series)
  const axis = { stroke: colourOf('faint', plot), font: '12px system-ui, sans-serif', ticks: { show: false } }
  const every = Math.max(1, Math.ceil((points.length * TICK_PX) / Math.max(plot.clientWidth, TICK_PX)))
  return {
    width: plot.clientWidth,
    height: HEIGHT,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: () => [-0.6, points.length - 0.4] },
      y: { range: () => [ticks[0], ticks.at(-1)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        splits: () => points.flatMap((_, n) => (n % every === 0 ? [n] : [])),
        values: (_, places) => places.map(n => nameOnAxis(points[n] ?? '')),
      },
      {
        ...axis,
        size: 62,
        grid: { stroke: colourOf('line', plot), width: 1 },
        splits: () => ticks,
        values: (_, amounts) => amounts.map(amount => short.format(amount)),
      },
    ],
    bands: bandsOf(series, plot),
    series: [{}, ...series.map(({ name, kind }) => ({ label: name, ...lookOf(kind, plot) }))],
    plugins: [tip(chart)],
  }
}

/** A day without its year, which the hover shows; a long name is cut. */
const nameOnAxis = name => {
  const day = name.replace(/ \d{4}$/, '')
  return day.length > 13 ? `${day.slice(0, 12)}…` : day
}

const drawn = new WeakMap()

function draw(plot) {
  const { data, chart } = drawn.get(plot) ?? {}
  if (data === plot.dataset.chart && plot.clientWidth === chart.width) return
  chart?.destroy()
  const parsed = JSON.parse(plot.dataset.chart)
  const values = parsed.series.map(({ kind, values }) =>
    kind === 'down' ? values.map(value => -value) : [...values],
  )
  const made = new UPlot(optionsOf(parsed, plot), [parsed.points.map((_, n) => n), ...values])
  // The page does not know the drawing: an update of the part around it leaves it.
  made.root.dataset.own = ''
  plot.append(made.root)
  drawn.set(plot, { data: plot.dataset.chart, chart: made })
}

function drawAgain() {
  for (const plot of all('.plot')) {
    drawn.get(plot)?.chart.destroy()
    drawn.delete(plot)
    draw(plot)
  }
}

const sizes = new ResizeObserver(entries => {
  for (const { target } of entries) draw(target)
})

function drawAll() {
  for (const plot of all('.plot')) {
    draw(plot)
    sizes.observe(plot)
  }
}

drawAll()
document.addEventListener('part-replaced', drawAll)
for (const query of ['(prefers-color-scheme: dark)', '(forced-colors: active)'])
  matchMedia(query).addEventListener('change', drawAgain)
