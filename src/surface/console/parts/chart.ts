import { type Html, html } from '../../../web/html.ts'
import { chartTags } from '../browser/browser.ts'
import type { PageRequest } from '../page.ts'

/**
 * `bars` go up and `down` goes below zero; `before` is a dashed line for the span before; `high` and `low` are
 * the edges of a band. Colours and order are those of the kinds.
 */
type ChartKind = 'bars' | 'down' | 'line' | 'before' | 'high' | 'low'

interface ChartSeries {
  readonly name: string
  readonly kind: ChartKind
  /** In euros, one for each point. */
  readonly values: readonly (number | null)[]
}

interface Chart {
  readonly id: string
  readonly title: string
  readonly description: string
  /** The names of the points, such as days. */
  readonly points: readonly string[]
  readonly series: readonly ChartSeries[]
  /** The same figures, for readers of the screen and without scripts. */
  readonly table: Html
}

/** A script draws the figures of the attribute. Without scripts the table is open in place of the drawing. */
export function renderChart(
  request: Pick<PageRequest, 'to'>,
  { id, title, description, points, series, table }: Chart,
): Html {
  const named = series.filter(({ kind }) => kind !== 'low')
  return html`<figure class="chart">
<div class="plot" id="${id}" role="img" aria-label="${title}. ${description}" data-chart="${JSON.stringify({ points, series })}"></div>
<figcaption>${named.map(({ kind, name }) => html`<span class="key ${kind}">${name}</span> `)}</figcaption>
<details class="more figures"><summary>View as table</summary>${table}</details>
</figure>
${chartTags(request)}`
}
