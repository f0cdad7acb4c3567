import { eventsApi } from '../../../../delivery/events/index.ts'
import { deliveriesApi } from '../../../../delivery/webhooks/index.ts'
import { html } from '../../../../web/html.ts'
import type { Page } from '../../page.ts'
import { recordLink } from '../../parts/links.ts'
import { listPage } from '../../parts/list.ts'
import { backTo, recordHead } from '../../parts/record-page.ts'
import { box, facts, table } from '../../parts/table.ts'
import { text, time } from '../../parts/text.ts'
import { briefColumns, nameWebhooks } from './deliveries.ts'
import { filtered, membersOf, namedIn, requestLink, whole } from './shared.ts'

export const eventsPage = listPage({
  title: 'Events',
  lead: 'All that has happened, newest first, as webhooks tell it. The list follows what happens.',
  operation: eventsApi.list,
  filters: ['event', 'agentId', 'requestId', 'from', 'to'],
  labels: { event: 'Kind of event, such as agent.frozen', agentId: 'Agent id', requestId: 'Request id' },
  events: ['*'],
  empty: {
    words: 'Nothing has happened yet.',
    command: 'agentpay agents create --name "Research assistant"',
  },
  above: () => html`<button type="button" data-pause="list" aria-pressed="false">Pause</button>`,
  columns: {
    Event: ({ id, event }, request) => recordLink(request, id, whole(event)),
    About: ({ data }, request) => namedIn(data, request),
    Request: ({ requestId }, request) => requestLink(request, requestId),
    When: 'createdAt',
  },
})

export const eventPage: Page = async request => {
  const { ask, id, may } = request
  const event = await ask(eventsApi.get, { params: { id } })
  const head = recordHead(
    { name: text(event.event), kind: 'Event', operation: eventsApi.get, command: 'events get' },
    request,
  )
  const deliveries = await request.part({
    id: 'deliveries',
    events: ['webhook.*'],
    make: async () => {
      if (!may(deliveriesApi.allDeliveries)) return html``
      const query = { eventId: id, limit: 100 } as const
      const [{ data }] = await Promise.all([
        ask(deliveriesApi.allDeliveries, { query }),
        nameWebhooks(request),
      ])
      return box(
        'Deliveries',
        data.length > 0
          ? table(request, 'Deliveries of this event', data, briefColumns)
          : html`<p>No subscription was to hear of it, or its deliveries are older than thirty days.</p>`,
      )
    },
  })
  return {
    title: event.event,
    content: html`${backTo(request, 'events', 'Events')}${head}
<div class="boxes">${box('What has happened', membersOf(event.data, request))}
${box(
  'Where it comes from',
  facts([
    ['When', time(event.createdAt)],
    ['Request', requestLink(request, event.requestId)],
    ['Run', recordLink(request, event.runId)],
    [
      'Others of this kind',
      html`<a href="${filtered(request, 'events', { event: event.event })}">${event.event}</a>`,
    ],
  ]),
)}</div>${deliveries}`,
  }
}
