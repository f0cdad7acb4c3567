import { eventsApi } from '../../../../delivery/events/index.ts'
import { html } from '../../../../web/html.ts'
import { filtered, membersOf, namedIn, requestLink } from '../../parts/history.ts'
import { section } from '../../parts/section.ts'
import { box } from '../../parts/table.ts'
import { deliveries } from './deliveries.ts'

export const events = section({
  kind: 'Event',
  lead: 'All events, newest first, as webhooks receive them. This list updates live.',
  list: eventsApi.list,
  get: eventsApi.get,
  name: ({ event }) => event,
  columns: [{ Records: ({ data }, request) => namedIn(data, request) }, 'requestId', 'createdAt'],
  labels: { event: 'Event type, such as agent.frozen' },
  shows: {
    requestId: ({ requestId }, request) => requestLink(request, requestId),
    'Similar events': ({ event }, request) =>
      html`<a href="${filtered(request, 'events', { event })}">${event}</a>`,
  },
  hidden: ['event', 'data'],
  boxes: ({ data }, request) => box('Data', membersOf(data, request)),
  events: ['*'],
  call: 'agentpay agents create --name "Research assistant"',
  above: () => html`<button type="button" data-pause="list" aria-pressed="false">Pause</button>`,
  below: ({ id }, request) =>
    deliveries.related(
      {
        title: 'Deliveries',
        query: { eventId: id },
        limit: 100,
        empty: 'No deliveries, or they are older than 30 days.',
      },
      request,
    ),
})
