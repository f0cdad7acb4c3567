import { eventsApi } from '../../../../delivery/events/index.ts'
import { html } from '../../../../web/html.ts'
import { filtered, membersOf, namedIn, requestLink } from '../../parts/history.ts'
import { section } from '../../parts/section.ts'
import { box } from '../../parts/table.ts'
import { deliveries } from './deliveries.ts'

export const events = section({
  kind: 'Event',
  lead: 'Everything that has happened, newest first, as webhooks receive it. The list is live.',
  list: eventsApi.list,
  get: eventsApi.get,
  name: ({ event }) => event,
  columns: [{ About: ({ data }, request) => namedIn(data, request) }, 'requestId', 'createdAt'],
  labels: { event: 'Kind of event, such as agent.frozen' },
  shows: {
    requestId: ({ requestId }, request) => requestLink(request, requestId),
    'Others of this kind': ({ event }, request) =>
      html`<a href="${filtered(request, 'events', { event })}">${event}</a>`,
  },
  hidden: ['event', 'data'],
  boxes: ({ data }, request) => box('What has happened', membersOf(data, request)),
  events: ['*'],
  call: 'agentpay agents create --name "Research assistant"',
  above: () => html`<button type="button" data-pause="list" aria-pressed="false">Pause</button>`,
  below: ({ id }, request) =>
    deliveries.related(
      {
        title: 'Deliveries',
        query: { eventId: id },
        limit: 100,
        empty: 'Not sent to any subscription, or its deliveries are older than thirty days.',
      },
      request,
    ),
})
