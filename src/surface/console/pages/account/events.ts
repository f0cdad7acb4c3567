import { eventsApi } from '../../../../delivery/events/index.ts'
import { html } from '../../../../web/html.ts'
import {
  filteredListLink,
  renderEventMembers,
  renderNamedRecords,
  renderRequestLink,
} from '../../parts/history.ts'
import { consoleSection } from '../../parts/section.ts'
import { renderBox } from '../../parts/table.ts'
import { deliveriesSection } from './deliveries.ts'

export const eventsSection = consoleSection({
  kind: 'Event',
  lead: 'All events, newest first, as webhooks receive them. This list updates live.',
  list: eventsApi.list,
  get: eventsApi.get,
  name: ({ event }) => event,
  columns: [{ Records: ({ data }, request) => renderNamedRecords(data, request) }, 'requestId', 'createdAt'],
  labels: { event: 'Event type, such as agent.frozen' },
  shows: {
    requestId: ({ requestId }, request) => renderRequestLink(request, requestId),
    'Similar events': ({ event }, request) =>
      html`<a href="${filteredListLink(request, 'events', { event })}">${event}</a>`,
  },
  hidden: ['event', 'data'],
  boxes: ({ data }, request) => renderBox('Data', renderEventMembers(data, request)),
  events: ['*'],
  call: 'agentpay agents create --name "Research assistant"',
  buttons: () => html`<button type="button" data-pause="list" aria-pressed="false">Pause</button>`,
  below: ({ id }, request) =>
    deliveriesSection.related(
      {
        title: 'Deliveries',
        query: { eventId: id },
        limit: 100,
        empty: 'No deliveries, or they are older than 30 days.',
      },
      request,
    ),
})
