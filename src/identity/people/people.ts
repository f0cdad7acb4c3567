import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { peopleApi } from './api.ts'
import { remove, update } from './change.ts'
import { create } from './invite.ts'
import { PersonLink } from './link.ts'
import { makeLink } from './links.ts'
import { Person, personMachine } from './person.ts'
import { openRecoveryOf } from './recoveries.ts'
import { Recovery, recoveryMachine } from './recovery.ts'
import { peopleResponse, personEvent, personResponse } from './response.ts'
import { personEvents } from './schemas.ts'

/** A person of the tenant, in whatever state. */
export const findPerson = (id: string, { records }: Pick<Context, 'records'>): Promise<Person | null> =>
  records.findOne(Person, { id })

/** A person who may act just now. */
export const activePersonOf = (id: string, { records }: Pick<Context, 'records'>): Promise<Person | null> =>
  records.findOne(Person, { id, status: 'active' })

const people = implement(peopleApi, {
  create,
  update,
  remove,

  async list({ query: { status, role } }, { page, records }) {
    const { data, ...rest } = await page(Person, definedOnly({ status, role }))
    return { ...rest, data: await peopleResponse(data, records) }
  },

  async get({ params }, context) {
    const person = await findPerson(params.id, context)
    if (!person) return context.refuse('person_not_found')
    return personResponse(person, await openRecoveryOf(person.id, context))
  },

  async link({ params }, context) {
    const person = await context.records.lock(Person, params.id)
    if (!person || person.status === 'removed') return context.refuse('person_not_found')
    const link = await makeLink({ personId: person.id, kind: 'join' }, context)
    context.emit('person.updated', { ...personEvent(person), changed: ['link'] })
    return { ...link, personId: person.id, kind: 'join' as const }
  },
})

export const peopleArea = area(
  'People',
  'Who may sign in for an account: invitations, roles, and the way back in.',
  people,
  {
    entities: [Person, PersonLink, Recovery],
    machines: [personMachine, recoveryMachine],
    announces: personEvents,
  },
)
