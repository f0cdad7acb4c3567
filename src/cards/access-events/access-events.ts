import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { createdWithin } from '../../kernel/database/created-within.ts'
import { definedOnly, withMembers } from '../../kernel/database/entity.ts'
import { access } from './access.ts'
import { AccessEvent, AccessOutcome } from './access-event.ts'
import { accessEventsApi } from './api.ts'
import { accessEventsPersonal } from './personal.ts'

/** Adds to each event what has come of it. */
async function accessResponses(events: readonly AccessEvent[], { records }: Pick<Context, 'records'>) {
  const granted = events.filter(({ decision }) => decision === 'granted').map(({ id }) => id)
  const outcomes = granted.length === 0 ? [] : await records.find(AccessOutcome, { id: { $in: granted } })
  const byId = new Map(outcomes.map(one => [one.id, one]))
  return events.map(event => {
    const { outcome = null, code = null, message = null } = byId.get(event.id) ?? {}
    return withMembers(event, {
      actor: { type: event.actorType as 'key' | 'console' | 'agent', id: event.actorId },
      outcome,
      failure: code === null || message === null ? null : { code, message },
    })
  })
}

const accessEvents = implement(accessEventsApi, {
  access,

  async list({ query: { from, to, cursor: _cursor, limit: _limit, ...filters } }, context) {
    const created = await createdWithin('accessevent', { from, to }, context)
    const page = await context.page(AccessEvent, definedOnly({ ...filters, ...created }))
    return { ...page, data: await accessResponses(page.data, context) }
  },

  async get({ params }, context) {
    const event = await context.records.findOne(AccessEvent, { id: params.id })
    if (!event) return context.refuse('access_event_not_found')
    const [response] = await accessResponses([event], context)
    return response as NonNullable<typeof response>
  },
})

export const accessEventsArea = area(
  'Access Events',
  'Who has asked for the data of a card, and what came of it.',
  accessEvents,
  { personal: accessEventsPersonal, entities: [AccessEvent, AccessOutcome] },
)
