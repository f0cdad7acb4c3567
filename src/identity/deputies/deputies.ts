import { area, reaction } from '../../kernel/contract/area.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { FOR_UPDATE, FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { days } from '../../values/clock.ts'
import { Deputy, deputyEvent, isForOther } from '../approvals/index.ts'
import { findPerson, personEvents } from '../people/index.ts'
import { deputiesApi, deputyEvents } from './api.ts'
import { nameDeputy } from './name-deputy.ts'

const deputies = bindHandlers(deputiesApi, {
  create: nameDeputy,

  async list({ params }, context) {
    if (!(await findPerson(params.id, context))) return context.refuse('person_not_found')
    return context.page(Deputy, { personId: params.id })
  },

  async end({ params }, context) {
    const { em, actor, now, emit, refuse } = context
    const [, deputy] = await Promise.all([
      lockTenant(context, 'people'),
      em.findOne(Deputy, { id: params.recordId, personId: params.id }, FOR_UPDATE),
    ])
    if (!deputy) return refuse('deputy_not_found')
    if (isForOther(deputy.personId, actor)) return refuse('not_own_deputies')
    if (deputy.until <= now) return refuse('deputy_over')
    em.remove(deputy)
    emit('person.deputy_ended', deputyEvent(deputy))
  },
})

const ends = { 'person.deputy_ended': deputyEvents['person.deputy_ended'] }

/** Both of a person who was removed or may no longer approve: who stands in for them, and for whom they stand in. */
async function endDeputiesOf(personId: string, { em, now, emit }: WriteContext<typeof ends>): Promise<void> {
  const found = await em.find(Deputy, { $or: [{ personId }, { deputyId: personId }] }, FOR_UPDATE_BY_ID)
  for (const deputy of found) {
    if (deputy.until > now) emit('person.deputy_ended', deputyEvent(deputy))
    em.remove(deputy)
  }
}

export const deputiesArea = area('Deputies', 'Who may approve in place of a person, for a span.', deputies, {
  entities: [Deputy],
  expiring: [{ table: 'deputies', column: 'ends_at', keptMs: days(30) }],
  reactions: {
    'person.removed': reaction(personEvents['person.removed'], ends, ({ personId }, context) =>
      endDeputiesOf(personId, context),
    ),
    'person.updated': reaction(
      personEvents['person.updated'],
      ends,
      async ({ personId, role, changed }, context) => {
        if (changed.includes('role') && role === 'viewer') await endDeputiesOf(personId, context)
      },
    ),
  },
})
