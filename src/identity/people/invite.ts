import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { MAX_PEOPLE, Person, personEvent } from '../customers/index.ts'
import { linkSubject } from '../passkeys/index.ts'
import type { peopleApi } from './api.ts'
import { newPersonLink, replacePersonLink } from './link.ts'
import { emitLinkEmailed, linkEmailBlocker } from './link-email.ts'
import { consumeOwnerConsent, exceedsKeyScopes, verifyOwnerConsent } from './owner-consent.ts'
import { actForTenantOfPerson, lockPerson } from './recover.ts'
import { findOpenRecovery } from './recoveries.ts'
import { personResponse } from './response.ts'

export const isEmailTaken = async (email: string, { em }: ReadContext, personId = ''): Promise<boolean> =>
  (await em.count(Person, {
    id: { $ne: personId },
    ...sqlCondition('lower(email) = lower(?)', [email]),
  })) > 0

/** Locks the tenant, so that concurrent invitations respect the limit and unique emails. */
export const invitePerson: HandlerOf<typeof peopleApi.create> = async ({ body }, context) => {
  const { em, now, systems, emit, refuse } = context
  const { webauthnAssertion, send, ...members } = body
  const isEmailed = send === 'email'
  const blocker = isEmailed && linkEmailBlocker({ email: members.email, emailChangedAt: null }, now, systems)
  if (blocker) return refuse(blocker)
  const consent = await verifyOwnerConsent(webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  if (exceedsKeyScopes(members.role, consent, context)) return refuse('scope_not_held')
  const [, count, isTaken] = await Promise.all([
    lockTenant(context, 'people'),
    em.count(Person, { status: { $ne: 'removed' } }),
    members.email !== null && isEmailTaken(members.email, context),
  ])
  const code = await consumeOwnerConsent(consent, members, context)
  if (code) return refuse(code)
  if (count >= MAX_PEOPLE) return refuse('too_many_people')
  if (isTaken) return refuse('email_taken')
  const person = em.create(Person, members)
  const { id, url, expiresAt } = newPersonLink({ personId: person.id, kind: 'join', isEmailed }, context)
  emit('person.invited', personEvent(person))
  if (isEmailed) emitLinkEmailed(person, id, context)
  return withMembers(personResponse(person, null), { joinUrl: url, joinUrlExpiresAt: expiresAt })
}

export const createPersonLink: HandlerOf<typeof peopleApi.link> = async (input, context) => {
  const { actor, em, now, systems, refuse } = context
  const isEmailed = input.body.send === 'email'
  if (actor.type === 'dash') return recoveryLink(input.params.id, isEmailed, context)
  if (!(await em.findOne(Person, { id: input.params.id }))) return refuse('person_not_found')
  const consent = await verifyOwnerConsent(input.body.webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  const person = await lockPerson(input.params.id, context)
  if (!person) return refuse('person_not_found')
  const blocker = isEmailed && linkEmailBlocker(person, now, systems)
  if (blocker) return refuse(blocker)
  if (exceedsKeyScopes(person.role, consent, context)) return refuse('scope_not_held')
  const code = await consumeOwnerConsent(consent, linkSubject(person), context)
  return code ? refuse(code) : linkOf(person, { kind: 'join', isEmailed }, context)
}

type Linking = ContextOf<typeof peopleApi.link>

async function recoveryLink(personId: string, isEmailed: boolean, context: Linking) {
  const { systems, refuse } = context
  if (!(await actForTenantOfPerson(personId, context))) return refuse('person_not_found')
  const person = await lockPerson(personId, context)
  if (!person) return refuse('person_not_found')
  const recovery = await findOpenRecovery(person.id, context)
  if (recovery?.status !== 'ready') return refuse('recovery_not_ready')
  const blocker = isEmailed && linkEmailBlocker(person, recovery.createdAt, systems)
  if (blocker) return refuse(blocker)
  return linkOf(person, { kind: 'recovery', recoveryId: recovery.id, isEmailed }, context)
}

async function linkOf(
  person: Person,
  members: {
    readonly kind: 'join' | 'recovery'
    readonly recoveryId?: string
    readonly isEmailed: boolean
  },
  context: Linking,
) {
  const made = await replacePersonLink({ personId: person.id, ...members }, context)
  context.emit('person.updated', { ...personEvent(person), changed: ['link'] })
  if (members.isEmailed) emitLinkEmailed(person, made.id, context)
  return { ...made, personId: person.id, kind: members.kind }
}
