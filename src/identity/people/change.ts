import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { peopleApi } from './api.ts'
import { isEmailTaken } from './invite.ts'
import { revokeLinks } from './links.ts'
import { personMachine } from './person.ts'
import { lockPerson } from './recover.ts'
import { endRecovery, openRecoveryOf, stopperOf } from './recoveries.ts'
import { personEvent, personResponse } from './response.ts'

/** The tenant is locked, so that two owners who remove or demote each other at once see what the other has done. */
export const update: HandlerOf<typeof peopleApi.update> = async ({ params, body }, context) => {
  const { emit, refuse } = context
  const person = await lockPerson(params.id, context)
  if (!person) return refuse('person_not_found')
  if (body.email && (await isEmailTaken(body.email, context, person.id))) return refuse('email_taken')
  const changed = (Object.keys(body) as (keyof typeof body)[]).filter(name => body[name] !== person[name])
  Object.assign(person, body)
  if (changed.length > 0) emit('person.updated', { ...personEvent(person), changed })
  return personResponse(person, await openRecoveryOf(person.id, context))
}

export const remove: HandlerOf<typeof peopleApi.remove> = async ({ params }, context) => {
  const { actor, now, emit, refuse } = context
  const person = await lockPerson(params.id, context)
  if (!person) return refuse('person_not_found')
  personMachine.move(person, 'removed')
  Object.assign(person, { removedAt: now, email: null })
  await revokeLinks(person.id, context)
  emit('person.removed', personEvent(person))
  const recovery = await openRecoveryOf(person.id, context)
  if (recovery) await endRecovery(recovery, person, { reason: 'removed', by: stopperOf(actor) }, context)
  return personResponse(person, null)
}
