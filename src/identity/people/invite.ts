import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { sqlCondition } from '../../kernel/contract/records.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import type { peopleApi } from './api.ts'
import { newLink } from './links.ts'
import { MAX_PEOPLE, Person } from './person.ts'
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
