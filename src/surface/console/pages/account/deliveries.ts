import { deliveriesApi } from '../../../../delivery/webhooks/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { renderOperationForm } from '../../parts/form.ts'
import { filteredListLink } from '../../parts/history.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox, renderTable, type TableColumns } from '../../parts/table.ts'
import { noneText, renderText } from '../../parts/text.ts'

type Delivery = OperationAnswer<typeof deliveriesApi.delivery>
type Attempt = Delivery['attempts'][number]

const latency = ({ latencyMs }: Attempt): HtmlContent => (latencyMs === null ? noneText : `${latencyMs} ms`)

const answered = ({ status: answer }: Attempt): HtmlContent => answer ?? 'no answer'

function lastAttempt({ attempts }: Delivery): Html {
  const last = attempts.at(-1)
  if (!last) return noneText
  const answer = last.responseStart ?? last.error
  return html`${answered(last)}, ${latency(last)}${answer !== null && html`<br>${renderText(answer, 80)}`}`
}

const hasEnded = ({ status: state }: Delivery): boolean => state !== 'pending' && state !== 'delivering'

const FILTERS = ['status', 'event', 'webhookId', 'requestId', 'eventId', 'from', 'to']

/** Replays the deliveries of the present filters. Without a filter for the status, it replays the failed ones. */
function replayShown(request: PageRequest): HtmlContent {
  const given = Object.fromEntries(
    FILTERS.flatMap(name => (request.query[name] ? [[name, request.query[name]]] : [])),
  )
  if (given.status === 'pending' || given.status === 'delivering') return ''
  const { status: state, ...others } = given
  const what = state ?? 'failed and dead'
  const which = Object.keys(others).length > 0 ? ' matching this filter' : ''
  return renderOperationForm(request, deliveriesApi.replayDeliveries, {
    given,
    submit: `Replay ${what} deliveries`,
    confirm: `Replay all ${what} deliveries${which}? Up to 1,000 at a time, oldest first.`,
    success: 'Replaying {replayed} deliveries.',
    more: 'Replaying {replayed} deliveries. There are more: press again to continue.',
  })
}

const attemptColumns: TableColumns<Attempt> = {
  Date: 'at',
  Response: answered,
  Latency: { figure: latency },
  Error: 'error',
  'Response body': ({ responseStart }) => renderText(responseStart, 300),
  Attempt: ({ deliveryId }) => html`<code>${deliveryId}</code>`,
}

export const deliveriesSection = consoleSection({
  kind: 'Delivery',
  title: 'Deliveries',
  lead: 'Webhook deliveries of the last 30 days, with the outcome of each attempt.',
  list: deliveriesApi.allDeliveries,
  get: deliveriesApi.delivery,
  command: 'webhooks delivery',
  name: ({ event }) => event,
  columns: [
    'webhookId',
    'status',
    {
      Attempts: { figure: ({ attempts }) => attempts.length },
      'Last attempt': lastAttempt,
    },
    'createdAt',
    'nextAttemptAt',
  ],
  filters: FILTERS,
  labels: { webhookId: 'Webhook', event: 'Event type', eventId: 'Event ID' },
  hidden: ['event', 'explanation', 'attempts', 'requestId'],
  events: ['webhook.*'],
  empty: 'No deliveries yet. Webhooks receive events from their creation on.',
  call: 'agentpay webhooks create --url https://example.com/hooks --events "*" --ping',
  buttons: request =>
    html`<a class="button" href="${filteredListLink(request, 'deliveries', { status: 'dead' })}">Dead letters</a>${replayShown(request)}`,
  note: ({ explanation }) => html`<p class="lead">${explanation}</p>`,
  actions: [
    {
      operation: deliveriesApi.replay,
      when: hasEnded,
      success: 'Replaying the delivery.',
      inRow: true,
    },
  ],
  below: ({ attempts }, request) =>
    renderBox(
      'Attempts',
      attempts.length > 0
        ? renderTable(request, 'Attempts, oldest first', attempts, attemptColumns)
        : html`<p>No attempts yet.</p>`,
    ),
})
