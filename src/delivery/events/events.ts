import { area } from '../../kernel/area.ts'
import { implement } from '../../kernel/operation.ts'
import { given, within } from '../../kernel/record.ts'
import { eventsApi } from './api.ts'
import { catalogue } from './catalogue.ts'
import { Event } from './event.ts'

const events = implement(eventsApi, {
  list: ({ query: { event, agentId, from, to } }, { page }) =>
    page(Event, given({ event, agentId, createdAt: within(from, to) })),

  types: (_, { ports }) => ({ data: [...ports.eventTypes()] }),

  async get({ params }, { em, refuse }) {
    return (await em.findOne(Event, { id: params.id })) ?? refuse('event_not_found')
  },
})

export const eventsArea = area('Events', 'What has happened, as webhooks tell it.', events, {
  entities: [Event],
  announces: catalogue,
})
