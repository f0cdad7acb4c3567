import { deliveriesApi, webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink, runLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { recordPage } from '../../parts/record-page.ts'
import { box, type Columns, facts, table } from '../../parts/table.ts'
import { none, text, time } from '../../parts/text.ts'
import { filtered, history, whole } from './shared.ts'

const known = new WeakMap<PageRequest, ReadonlyMap<string, string>>()

/** Reads what subscriptions are for, or where they lead, once a page; of more than a hundred the newest. */
export async function nameWebhooks(request: PageRequest): Promise<void> {
  if (known.has(request)) return
  const { data } = await request.ask(webhooksApi.list, { query: { limit: 100 } })
  known.set(request, new Map(data.map(({ id, url, description }) => [id, description || url])))
}

/** A link to a subscription, by its name where `nameWebhooks` has found it. */
function webhookLink(request: PageRequest, id: string): Html {
  const name = known.get(request)?.get(id)
  return recordLink(request, id, name === undefined ? undefined : text(name, 60))
}

type Delivery = AnswerOf<typeof deliveriesApi.delivery>
type Attempt = Delivery['attempts'][number]

const latency = ({ latencyMs }: Attempt): Content => (latencyMs === null ? none : `${latencyMs} ms`)

const answered = ({ status: answer }: Attempt): Content => answer ?? 'no answer'

/** How the last attempt went: what was answered, how fast, and how the answer began. */
function lastAttempt({ attempts }: Delivery): Html {
  const last = attempts.at(-1)
  if (!last) return none
  const told = last.responseStart ?? last.error
  return html`${answered(last)}, ${latency(last)}${told !== null && html`<br>${text(told, 80)}`}`
}

const hasEnded = ({ status: state }: Delivery): boolean => state !== 'pending' && state !== 'delivering'

const replay = ({ id }: Delivery, request: PageRequest): Html =>
  operationForm(request, deliveriesApi.replay, {
    params: { id },
    submit: 'Replay',
    success: 'It is being delivered once more.',
  })

export const briefColumns: Columns<Delivery> = {
  Delivery: ({ id, event }, request) => recordLink(request, id, whole(event)),
  To: ({ webhookId }, request) => webhookLink(request, webhookId),
  State: 'status',
  Attempts: { figure: ({ attempts }) => attempts.length },
  'Last attempt': lastAttempt,
  When: 'createdAt',
}

/** Where it is known to whom they were sent. */
export const ofOneWebhook: Columns<Delivery> = Object.fromEntries(
  Object.entries(briefColumns).filter(([name]) => name !== 'To'),
)

const FILTERS = ['status', 'event', 'webhookId', 'requestId', 'eventId', 'from', 'to']

/** Replays all that the filters of the address show; without a state what has not arrived. */
function replayShown(request: PageRequest): Content {
  const given = Object.fromEntries(
    FILTERS.flatMap(name => (request.query[name] ? [[name, request.query[name]]] : [])),
  )
  if (given.status === 'pending' || given.status === 'delivering') return ''
  const { status: state, ...others } = given
  const what = state ?? 'failed and dead'
  const which = Object.keys(others).length > 0 ? ' that this filter shows' : ''
  return operationForm(request, deliveriesApi.replayDeliveries, {
    given,
    submit: `Replay ${what} ones`,
    confirm: `Deliver all ${what} ones${which} once more? A thousand at once, oldest first.`,
    success: '{replayed} are being delivered once more.',
    more: '{replayed} are being delivered once more, and more wait: press again for the next ones.',
  })
}

export const deliveriesPage = listPage({
  title: 'Deliveries',
  lead: 'What was sent to all subscriptions in the last thirty days, with how each attempt went.',
  operation: deliveriesApi.allDeliveries,
  filters: FILTERS,
  labels: { status: 'State', webhookId: 'Subscription id', requestId: 'Request id', eventId: 'Event id' },
  events: ['webhook.*'],
  prepare: (_, request) => nameWebhooks(request),
  empty: {
    words: 'Nothing was sent yet. A subscription hears of what happens from then on.',
    command: 'agentpay webhooks create --url https://example.com/hooks --events "*" --ping',
  },
  above: request =>
    html`<a class="button" href="${filtered(request, 'deliveries', { status: 'dead' })}">Dead letters</a>${replayShown(request)}`,
  columns: {
    ...briefColumns,
    Next: 'nextAttemptAt',
    Again: (delivery, request) => hasEnded(delivery) && replay(delivery, request),
  },
})

const attemptColumns: Columns<Attempt> = {
  When: 'at',
  Answer: answered,
  Latency: { figure: latency },
  'Why it does not count': 'error',
  'First bytes': ({ responseStart }) => text(responseStart, 300),
  Attempt: ({ deliveryId }) => html`<code>${deliveryId}</code>`,
}

export const deliveryPage = recordPage({
  kind: 'Delivery',
  operation: deliveriesApi.delivery,
  command: 'webhooks delivery',
  events: ['webhook.*'],
  about: ({ webhookId }) => [webhookId],
  name: ({ event }) => text(event),
  title: ({ event }) => `Delivery of ${event}`,
  async body(delivery, request) {
    const { attempts, eventId, webhookId } = delivery
    await nameWebhooks(request)
    return html`<p class="lead">${delivery.explanation}</p>
<div class="actions">${replay(delivery, request)}</div>
${box(
  'What it is',
  facts([
    ['Event', recordLink(request, eventId)],
    ['Subscription', webhookLink(request, webhookId)],
    ['Made', time(delivery.createdAt)],
    ['Next attempt', time(delivery.nextAttemptAt)],
    ['Run in Temporal', runLink(request, delivery.workflowId)],
  ]),
)}
${box(
  'Attempts',
  attempts.length > 0
    ? table(request, 'Attempts, oldest first', attempts, attemptColumns)
    : html`<p>None was made yet.</p>`,
)}${await history(delivery.id, request)}`
  },
})
