import { eventsApi } from '../../../../delivery/events/index.ts'
import { deliveriesApi, webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { type Content, type Html, html } from '../../../../web/html.ts'
import type { AnswerOf, Page, PageRequest } from '../../page.ts'
import { operationForm } from '../../parts/form.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { backTo, recordHead } from '../../parts/record-page.ts'
import { box, facts, table } from '../../parts/table.ts'
import { status, text, time } from '../../parts/text.ts'
import { ofOneWebhook } from './deliveries.ts'
import { filtered, history } from './shared.ts'

type Webhook = AnswerOf<typeof webhooksApi.get>

/** How a subscription stands: disabled, paused by its backlog or its receiver, or well. */
function standing({ status: state, health, backlog }: Webhook): string {
  if (state !== 'active') return state
  return backlog || health.condition === 'paused' ? 'paused' : health.condition === 'well' ? state : 'failing'
}

/** Why it is paused, failing or disabled, in a sentence each. */
const reasons = ({ statusReason, health, backlog, status: state }: Webhook): Html =>
  html`${[
    state === 'disabled' && (statusReason ?? 'Its owner has disabled it.'),
    health.condition !== 'well' && health.message,
    backlog?.message,
  ].map(reason => reason && html`<p>${text(reason, 600)}</p>`)}`

const subjects = ({ events }: Webhook): Content =>
  events.includes('*') ? 'all events' : text(events.join(', '), 160)

const attemptsIn = ({ retries: { tier, maxAttempts, deadLetter } }: Webhook): string =>
  `${maxAttempts}${deadLetter ? ', then a dead letter' : ''} (${tier})`

const labels = {
  url: 'Address (https)',
  events: 'Events, one a line; * for all',
  ping: 'Send a greeting at once',
}

export const webhooksPage = listPage({
  title: 'Webhooks',
  lead: 'Who is told of what happens, and whether they take it.',
  operation: webhooksApi.list,
  filters: ['status'],
  events: ['webhook.*'],
  empty: {
    words: 'Nobody subscribes to events yet.',
    command: 'agentpay webhooks create --url https://example.com/hooks --events "*" --ping',
  },
  above: request =>
    html`${operationForm(request, webhooksApi.create, {
      members: ['url', 'events', 'description', 'ping'],
      labels,
      submit: 'New subscription',
      secrets: ['secret', 'standardSecret'],
      fold: true,
    })}<a class="button" href="${request.to('console/deliveries')}">All deliveries</a>`,
  columns: {
    Address: ({ id, url }, request) => recordLink(request, id, text(url, 80)),
    State: webhook => html`${status(standing(webhook))}${reasons(webhook)}`,
    Events: subjects,
    'What for': 'description',
    Since: 'createdAt',
  },
})

export const webhookPage: Page = async request => {
  const { ask, id } = request
  const webhook = await ask(webhooksApi.get, { params: { id } })
  const { url, nextSecret } = webhook
  const head = { name: text(url, 120), kind: 'Webhook', state: standing(webhook), operation: webhooksApi.get }
  return {
    title: `Webhook ${url}`,
    content: html`${backTo(request, 'webhooks', 'Webhooks')}
${recordHead({ ...head, command: 'webhooks get' }, request)}
${reasons(webhook)}
${actions(webhook, request)}
<div class="boxes">${box(
      'Subscription',
      facts([
        ['Events', subjects(webhook)],
        ['What for', text(webhook.description)],
        ['Attempts', attemptsIn(webhook)],
        ['Receiver', status(webhook.health.condition)],
        ['Since', time(webhook.createdAt)],
        ['Changed', time(webhook.updatedAt)],
      ]),
    )}
${box(
  'Secret',
  facts([
    ['Ends with', html`<code>${webhook.hint}</code>`],
    ['Next one ends with', nextSecret ? html`<code>${nextSecret.hint}</code>` : text(null)],
    ['Counts from', time(nextSecret?.from)],
  ]),
  secretForms(webhook, request),
)}</div>
${await tests(request)}
${await recentDeliveries(request)}
${await history(id, request)}`,
  }
}

function actions({ id, url, events, description, status: state }: Webhook, request: PageRequest): Html {
  const params = { id }
  const isActive = state === 'active'
  const other = isActive ? 'disabled' : 'active'
  const question = `Disable ${url}? Events that happen meanwhile are not sent later.`
  return html`<div class="actions">
${operationForm(request, webhooksApi.test, { params, members: ['event'], submit: 'Send an example', done: 'part:tests', success: 'Sent: see what was answered below.', fold: true })}
${operationForm(request, webhooksApi.update, { params, members: ['url', 'events', 'description'], labels, values: { url, events, description }, submit: 'Change', fold: true })}
${operationForm(request, webhooksApi.update, {
  params,
  given: { status: other },
  submit: isActive ? 'Disable' : 'Enable',
  ...(isActive ? { confirm: question, tone: 'against' } : {}),
})}
${operationForm(request, webhooksApi.delete, { params, submit: 'Delete', tone: 'against', confirm: `Delete ${url}? What waits for it is not sent any more.`, done: 'go:console/webhooks', success: 'The subscription is deleted.' })}
</div>`
}

function secretForms({ id, nextSecret }: Webhook, request: PageRequest): Html {
  const params = { id }
  const labels = { overlapHours: 'Hours in which both secrets sign' }
  return html`${operationForm(request, webhooksApi.rotateSecret, { params, members: ['overlapHours'], labels, submit: 'New secret', secrets: ['secret', 'standardSecret'], fold: true })}
${nextSecret !== null && operationForm(request, webhooksApi.activateSecret, { params, submit: 'Let the new secret count now', confirm: 'Does your receiver know the new secret? The old one signs nothing any more.' })}`
}

/** The examples that were sent lately: each has left an event. */
const tests = (request: PageRequest): Promise<Html> =>
  request.part({
    id: 'tests',
    events: ['webhook.tested'],
    about: request.id,
    make: async () => {
      const { ask, id, may } = request
      if (!may(eventsApi.list)) return html``
      const { data } = await ask(eventsApi.list, { query: { event: 'webhook.tested', limit: 50 } })
      const own = data.filter(({ data }) => data.webhookId === id).slice(0, 5)
      if (own.length === 0) return html``
      const line = ({ createdAt, data }: (typeof own)[number]): Html =>
        html`<li>${time(createdAt)}: ${data.delivered === true ? 'the receiver has taken it' : 'the receiver has not taken it'}</li>`
      return box('Examples sent', html`<ul>${own.map(line)}</ul>`)
    },
  })

const recentDeliveries = (request: PageRequest): Promise<Html> =>
  request.part({
    id: 'deliveries',
    events: ['webhook.*'],
    make: async () => {
      const { ask, id } = request
      const { data, hasMore } = await ask(deliveriesApi.deliveries, { params: { id }, query: { limit: 15 } })
      const all = html`<p><a href="${filtered(request, 'deliveries', { webhookId: id })}">All deliveries</a></p>`
      return box(
        'Deliveries',
        data.length > 0
          ? table(request, 'Deliveries, newest first', data, ofOneWebhook)
          : html`<p>Nothing was sent to it in the last thirty days.</p>`,
        hasMore && all,
      )
    },
  })
