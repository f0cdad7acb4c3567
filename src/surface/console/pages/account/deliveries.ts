import { deliveriesApi } from '../../../../delivery/webhooks/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { filtered } from '../../parts/history.ts'
import { section } from '../../parts/section.ts'
import { box, type Columns, table } from '../../parts/table.ts'
import { none, text } from '../../parts/text.ts'

type Delivery = AnswerOf<typeof deliveriesApi.delivery>
type Attempt = Delivery['attempts'][number]

const latency = ({ latencyMs }: Attempt): Content => (latencyMs === null ? none : `${latencyMs} ms`)

const answered = ({ status: answer }: Attempt): Content => answer ?? 'no answer'

function lastAttempt({ attempts }: Delivery): Html {
  const last = attempts.at(-1)
  if (!last) return none
  const answer = last.responseStart ?? last.error
  return html`${answered(last)}, ${latency(last)}${answer !== null && html`<br>${text(answer, 80)}`}`
}

const hasEnded = ({ status: state }: Delivery): boolean => state !== 'pending' && state !== 'delivering'

const FILTERS = ['status', 'event', 'webhookId', 'requestId', 'eventId', 'from', 'to']

/** Replays the deliveries of the present filters. Without a filter for the status, it replays the failed ones. */
function replayShown(request: PageRequest): Content {
  const given = Object.fromEntries(
    FILTERS.flatMap(name => (request.query[name] ? [[name, request.query[name]]] : [])),
  )
  if (given.status === 'pending' || given.status === 'delivering') return ''
  const { status: state, ...others } = given
  const what = state ?? 'failed and dead'
  const which = Object.keys(others).length > 0 ? ' matching this filter' : ''
  return operationForm(request, deliveriesApi.replayDeliveries, {
    given,
    submit: `Replay ${what} deliveries`,
    confirm: `Replay all ${what} deliveries${which}? Up to 1,000 at a time, oldest first.`,
    success: 'Replaying {replayed} deliveries.',
    more: 'Replaying {replayed} deliveries. There are more: press again to continue.',
  })
}

const attemptColumns: Columns<Attempt> = {
  Date: 'at',
  Response: answered,
  Latency: { figure: latency },
  Error: 'error',
  'Response body': ({ responseStart }) => text(responseStart, 300),
  Attempt: ({ deliveryId }) => html`<code>${deliveryId}</code>`,
}

export const deliveries = section({
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
  labels: { webhookId: 'Webhook' },
  hidden: ['event', 'explanation', 'attempts', 'requestId'],
  events: ['webhook.*'],
  empty: 'No deliveries yet. Webhooks receive events from their creation on.',
  call: 'agentpay webhooks create --url https://example.com/hooks --events "*" --ping',
  above: request =>
    html`<a class="button" href="${filtered(request, 'deliveries', { status: 'dead' })}">Dead letters</a>${replayShown(request)}`,
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
    box(
      'Attempts',
      attempts.length > 0
        ? table(request, 'Attempts, oldest first', attempts, attemptColumns)
        : html`<p>No attempts yet.</p>`,
    ),
})
