import { eventsApi } from '../../../../delivery/events/index.ts'
import { webhooksApi } from '../../../../delivery/webhooks/index.ts'
import { type Html, type HtmlContent, html } from '../../../../web/html.ts'
import type { OperationAnswer, PageRequest } from '../../page.ts'
import { filteredListLink } from '../../parts/history.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { renderStatus, renderText, renderTime } from '../../parts/text.ts'
import { deliveriesSection } from './deliveries.ts'

type Webhook = OperationAnswer<typeof webhooksApi.get>

function webhookState({ status: state, health, backlog }: Webhook): string {
  if (state !== 'active') return state
  return backlog || health.condition === 'paused' ? 'paused' : health.condition === 'well' ? state : 'failing'
}

const reasons = ({ statusReason, health, backlog, status: state }: Webhook): Html => {
  const { failingSince, pausedUntil } = health
  return html`${[
    state === 'disabled' && renderText(statusReason ?? 'Disabled by its owner.', 600),
    failingSince !== null &&
      html`Failing since ${renderTime(failingSince, 'in a sentence')}.${pausedUntil !== null && html` The next attempt is ${renderTime(pausedUntil, 'in a sentence')}.`}`,
    backlog !== null &&
      html`More deliveries wait than your plan allows. They are sent in order as the receiver accepts them; nothing is lost.`,
  ].map(reason => reason && html`<p>${reason}</p>`)}`
}

const subjects = ({ events }: Webhook): HtmlContent =>
  events.includes('*') ? 'All events' : renderText(events.join(', '), 160)

const labels = {
  url: 'URL (https)',
  events: 'Events, one per line (* for all)',
  ping: 'Send a ping now',
}

const isActive = ({ status: state }: Webhook): boolean => state === 'active'

export const webhooksSection = consoleSection({
  kind: 'Webhook',
  lead: 'Endpoints that receive events, and their delivery status.',
  list: webhooksApi.list,
  get: webhooksApi.get,
  name: ({ url }) => url,
  state: webhookState,
  columns: [
    { Status: webhook => html`${renderStatus(webhookState(webhook))}${reasons(webhook)}` },
    'events',
    'description',
    'createdAt',
  ],
  labels: { hint: 'Secret ends with', nextSecret: 'Next secret', condition: 'Receiver', health: 'Health' },
  shows: { events: subjects, hint: ({ hint }) => html`<code>${hint}</code>` },
  hidden: ['url', 'statusReason', 'backlog'],
  events: ['webhook.*'],
  create: {
    operation: webhooksApi.create,
    members: ['url', 'events', 'description', 'ping'],
    labels,
    submit: 'Add webhook',
    done: 'reload',
  },
  buttons: ({ to }) => html`<a class="button" href="${to('console/deliveries')}">All deliveries</a>`,
  note: reasons,
  actions: [
    {
      operation: webhooksApi.test,
      members: ['event'],
      submit: 'Send test event',
      done: 'part:record',
      success: 'Sent. The response is below.',
    },
    { operation: webhooksApi.update, members: ['url', 'events', 'description'], labels },
    {
      operation: webhooksApi.update,
      when: isActive,
      given: { status: 'disabled' },
      members: [],
      submit: 'Disable',
      tone: 'against',
      forRecord: ({ url }) => ({
        confirm: `Disable ${url}? Events in the meantime are not sent later.`,
      }),
    },
    {
      operation: webhooksApi.update,
      when: webhook => !isActive(webhook),
      given: { status: 'active' },
      members: [],
      submit: 'Enable',
    },
    {
      operation: webhooksApi.rotateSecret,
      members: ['overlapHours'],
      labels: { overlapHours: 'Keep the old secret for (hours)' },
      submit: 'Rotate secret',
    },
    {
      operation: webhooksApi.activateSecret,
      when: ({ nextSecret }) => nextSecret !== null,
      members: [],
      submit: 'Activate the new secret',
      confirm: 'Does your endpoint have the new secret? The old one stops signing at once.',
    },
    {
      operation: webhooksApi.delete,
      forRecord: ({ url }) => ({ confirm: `Delete ${url}? Pending deliveries are discarded.` }),
      done: 'go:console/webhooks',
      success: 'Webhook deleted.',
    },
  ],
  async below({ id }, request) {
    const sent = {
      title: 'Deliveries',
      query: { webhookId: id },
      limit: 15,
      empty: 'No deliveries in the last 30 days.',
    }
    const [examples, newest] = await Promise.all([
      examplesOf(id, request),
      deliveriesSection.related(sent, request),
    ])
    return html`${examples}${newest}
<p><a href="${filteredListLink(request, 'deliveries', { webhookId: id })}">All deliveries</a></p>`
  },
})

async function examplesOf(id: string, { ask, may }: PageRequest): Promise<Html> {
  if (!may(eventsApi.list)) return html``
  const { data } = await ask(eventsApi.list, { query: { event: 'webhook.tested', limit: 50 } })
  const own = data.filter(({ data: tested }) => tested.webhookId === id).slice(0, 5)
  if (own.length === 0) return html``
  const line = ({ createdAt, data: tested }: (typeof own)[number]): Html =>
    html`<li>${renderTime(createdAt)}: ${tested.delivered === true ? 'delivered' : 'not delivered'}</li>`
  return renderBox('Test events', html`<ul>${own.map(line)}</ul>`)
}
