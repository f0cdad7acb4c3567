import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import type { peopleApi } from './api.ts'
import { makeLink, newLink } from './links.ts'
import { MAX_PEOPLE, Person } from './person.ts'
import { actForTenantOf, lockPerson } from './recover.ts'
import { openRecoveryOf } from './recoveries.ts'
import { personEvent, personResponse } from './response.ts'

/** Whether somebody else has this email, in any case. Those who are removed have none. */
export const isEmailTaken = async (
  email: string,
  { records }: Pick<Context, 'records'>,
  personId = '',
): Promise<boolean> =>
  (await records.count(Person, {
    id: { $ne: personId },
    ...sqlCondition('lower(email) = lower(?)', [email]),
  })) > 0

/** The tenant is locked, so that people who are invited at once are not too many, and have an email each. */
export const create: HandlerOf<typeof peopleApi.create> = async ({ body }, context) => {
  const { records, emit, refuse } = context
  await lockTenant(context, 'people')
  if ((await records.count(Person, { status: { $ne: 'removed' } })) >= MAX_PEOPLE)
    return refuse('too_many_people')
  if (body.email && (await isEmailTaken(body.email, context))) return refuse('email_taken')
  const person = records.create(Person, body)
  const { url, expiresAt } = newLink({ personId: person.id, kind: 'join' }, context)
  emit('person.invited', personEvent(person))
  return withMembers(personResponse(person, null), { joinUrl: url, joinUrlExpiresAt: expiresAt })
}

/** The operator makes the link of a recovery; keys and owners that of an invitation, which enrols a passkey too. */
export const link: HandlerOf<typeof peopleApi.link> = async ({ params }, context) => {
  const { actor, emit, refuse } = context
  const isOperator = actor.type === 'dash'
  if (isOperator && !(await actForTenantOf(params.id, context))) return refuse('person_not_found')
  const person = await lockPerson(params.id, context)
  if (!person) return refuse('person_not_found')
  const recovery = isOperator ? await openRecoveryOf(person.id, context) : null
  if (isOperator && recovery?.status !== 'ready') return refuse('recovery_not_ready')
  const members = recovery
    ? ({ kind: 'recovery', recoveryId: recovery.id } as const)
    : ({ kind: 'join' } as const)
  const made = await makeLink({ personId: person.id, ...members }, context)
  emit('person.updated', { ...personEvent(person), changed: ['link'] })
  return { ...made, personId: person.id, kind: members.kind }
}
