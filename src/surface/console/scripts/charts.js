// Draws the charts of a page: bars and lines of amounts, with four ticks, dates, and the figures under the pointer.

import { element } from './dialogs.js'
import { all } from './page.js'
import UPlot from './uplot.js'

const HEIGHT = 240
const TICK_PX = 84
/** The width of a letter on the axis, at most. */
const LETTER_PX = 8
const STEPS = 3

const exact = new Intl.NumberFormat('en-GB', { style: 'currency', currency: 'EUR' })
const short = new Intl.NumberFormat('en-GB', {
  style: 'currency',
  currency: 'EUR',
  notation: 'compact',
  maximumFractionDigits: 1,
})

/** The steps of ticks, as multiples of a power of ten. */
const ROUND = [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]

function roundAbove(amount) {
  if (amount <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(amount))
  return (ROUND.find(times => times * power >= amount) ?? 10) * power
}

/** Four ticks from zero to above the highest amount, and more below zero only for refunds that reach a step. */
function scaleOf(series) {
  const values = series.flatMap(one => one.values.map(value => (one.kind === 'down' ? -value : value)))
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)]
  const step = roundAbove(Math.max(high, -low) / STEPS)
  const below = Math.floor(-low / step)
  const ticks = Array.from({ length: below + STEPS + 1 }, (_, n) => (n - below) * step)
  return { ticks, low: Math.min(low * 1.08, ticks[0]) }
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
      .filter(({ kind, values }) => (kind === 'down' ? values[idx] > 0 : Number.isFinite(values[idx])))
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
  const { ticks, low } = scaleOf(series)
  const axis = { stroke: colourOf('faint', plot), font: '12px system-ui, sans-serif', ticks: { show: false } }
  const every = Math.max(1, Math.ceil((points.length * TICK_PX) / Math.max(plot.clientWidth, TICK_PX)))
  const most = Math.floor((plot.clientWidth * every) / points.length / LETTER_PX) - 1
  return {
    width: plot.clientWidth,
    height: HEIGHT,
    padding: [10, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: () => [-0.6, points.length - 0.4] },
      y: { range: () => [low, ticks.at(-1)] },
    },
    axes: [
      {
        ...axis,
        size: 30,
        grid: { show: false },
        splits: () => points.flatMap((_, n) => (n % every === 0 ? [n] : [])),
        values: (_, places) => places.map(n => nameOnAxis(points[n] ?? '', most)),
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

/** A day without its year, which the hover shows; a name that has no room is cut. */
const nameOnAxis = (name, most) => {
  const day = name.replace(/ \d{4}$/, '')
  return day.length > most ? `${day.slice(0, most - 1)}…` : day
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
