import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { mayGrantRole, type PersonRole, roleScopes } from '../../kernel/contract/scopes.ts'
import { keysOf } from '../../values/collections.ts'
import { Person, personEvent, personMachine } from '../customers/index.ts'
import { lockPasskeys, passkeySummary, revokePasskeysOfPerson } from '../passkeys/index.ts'
import type { peopleApi } from './api.ts'
import { isEmailTaken } from './invite.ts'
import { revokePersonLinks } from './link.ts'
import {
  consumeOwnerConsent,
  exceedsKeyScopes,
  type OwnerConsent,
  verifyOwnerConsent,
} from './owner-consent.ts'
import { lockPerson } from './recover.ts'
import { endRecovery, findOpenRecovery, recoveryStopper } from './recoveries.ts'
import { personResponse } from './response.ts'
import type { personEvents } from './schemas.ts'

type Updating = ContextOf<typeof peopleApi.update>

/**
 * A key needs an owner's consent to change a role, since it could otherwise turn its own invitee into an owner; so
 * does a person in the console, or who steals the session, to give a role more rights.
 */
const needsConsent = (person: Person, role: PersonRole | undefined, { actor }: Updating): boolean =>
  role !== undefined &&
  role !== person.role &&
  (actor.type === 'key' || (actor.type === 'console' && !mayGrantRole(roleScopes[person.role], role)))

/** Locks the tenant, so that two owners who remove or demote each other concurrently see each other's change. */
export const updatePerson: HandlerOf<typeof peopleApi.update> = async ({ params, body }, context) => {
  const { webauthnAssertion, ...members } = body
  const { em, emit, refuse } = context
  const known = await em.findOne(Person, { id: params.id })
  if (!known) return refuse('person_not_found')
  const consent =
    needsConsent(known, body.role, context) && (await verifyOwnerConsent(webauthnAssertion, context))
  if (typeof consent === 'string') return refuse(consent)
  await lockPasskeys(context)
  const person = await lockPerson(params.id, context)
  if (!person) return refuse('person_not_found')
  const refusal = await updateBlocker(person, members, consent, context)
  if (refusal) return refuse(refusal)
  const changed = namesOfChanged(person, members)
  Object.assign(person, members)
  // Who proves the email may accept the invitation, which an owner signed for the email of that time.
  if (changed.includes('email')) {
    person.emailChangedAt = context.now
    await revokePersonLinks(person.id, context, 'join')
  }
  if (changed.length > 0) emit('person.updated', { ...personEvent(person), changed })
  return personResponse(person, await findOpenRecovery(person.id, context))
}

type Changes = { readonly [Name in 'name' | 'email' | 'role']?: Person[Name] | undefined }

const namesOfChanged = (person: Person, changes: Changes) =>
  keysOf(changes).filter(name => changes[name] !== person[name])

async function updateBlocker(
  person: Person,
  { email, role }: Changes,
  consent: OwnerConsent | false,
  context: Updating,
) {
  if (role && needsConsent(person, role, context)) {
    if (consent === false) return 'assertion_required'
    if (exceedsKeyScopes(role, consent, context)) return 'scope_not_held'
    const code = await consumeOwnerConsent(consent, { personId: person.id, name: person.name, role }, context)
    if (code) return code
  }
  if (role && role !== 'owner' && (await isLastOwner(person, context))) return 'last_owner'
  return email && (await isEmailTaken(email, context, person.id)) ? 'email_taken' : undefined
}

/** Keeps the last owner one. Take the locks of passkeys and people first. */
export async function assignRole(
  person: Person,
  role: PersonRole,
  context: WriteContext<Pick<typeof personEvents, 'person.updated'>>,
): Promise<void> {
  if (role === person.role || (await isLastOwner(person, context))) return
  person.role = role
  context.emit('person.updated', { ...personEvent(person), changed: ['role'] })
}

export const removePerson: HandlerOf<typeof peopleApi.remove> = async ({ params }, context) => {
  const { actor, now, emit, refuse } = context
  await lockPasskeys(context)
  const person = await lockPerson(params.id, context)
  if (!person) return refuse('person_not_found')
  const [isLast, recovery] = await Promise.all([
    isLastOwner(person, context),
    findOpenRecovery(person.id, context),
  ])
  if (isLast) return refuse('last_owner')
  personMachine.move(person, 'removed')
  Object.assign(person, { removedAt: now, email: null })
  await revokePersonLinks(person.id, context)
  await revokePasskeysOfPerson(person.id, context)
  emit('person.removed', personEvent(person))
  if (recovery)
    await endRecovery(recovery, person, { reason: 'removed', by: recoveryStopper(actor) }, context)
  return personResponse(person, null)
}

/**
 * Whether the tenant would lose its last owner who can sign or be recovered. A tenant that never had a
 * passkey is managed by its keys. Take the locks of passkeys and people first.
 */
async function isLastOwner({ id, role }: Person, { em, sql, tenant }: ReadContext): Promise<boolean> {
  if (role !== 'owner') return false
  const [{ everEnrolled, personIds }, others] = await Promise.all([
    passkeySummary(sql, tenant),
    em.find(Person, { id: { $ne: id }, role: 'owner', status: { $ne: 'removed' } }),
  ])
  if (!everEnrolled) return false
  if (!personIds.includes(id)) return others.length === 0
  return !others.some(other => personIds.includes(other.id))
}
