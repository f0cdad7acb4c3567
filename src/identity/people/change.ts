import { inRange } from '../../kernel/contract/conditions.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { mayGrantRole, type PersonRole, roleScopes } from '../../kernel/contract/scopes.ts'
import { quoted, type StatedWidening } from '../../statements/index.ts'
import type { ApprovalStep } from '../../values/approval-steps.ts'
import { keysOf } from '../../values/collections.ts'
import { formatMinute } from '../../values/minute.ts'
import {
  Deputy,
  type HoldApproverChange,
  holdUntilApproved,
  isAskedIn,
  namingInWords,
  policiesConcerned,
} from '../approvals/index.ts'
import { Person, personEvent, personMachine } from '../customers/index.ts'
import {
  endEnrolmentGrants,
  lockPasskeys,
  Passkey,
  passkeySummary,
  revokePasskeysOfPerson,
} from '../passkeys/index.ts'
import type { peopleApi } from './api.ts'
import { type InvitationWrite, isEmailTaken, type LinkWrite } from './invite.ts'
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

type Changes = { readonly [Name in 'name' | 'email' | 'role']?: Person[Name] | undefined }

interface PersonUpdateWrite {
  readonly operation: 'people.update'
  readonly personId: string
  readonly members: Changes
}

/** What several people approve, as it was asked for. */
export type PersonWrite = InvitationWrite | LinkWrite | PersonUpdateWrite

/** Locks the tenant, so that two owners who remove or demote each other concurrently see each other's change. */
export async function changePerson(
  { personId, members }: PersonUpdateWrite,
  hold: HoldApproverChange,
  context: WriteContext<Pick<typeof personEvents, 'person.updated'>>,
) {
  const { emit, now } = context
  await lockPasskeys(context)
  const person = await lockPerson(personId, context)
  if (!person) return 'person_not_found'
  const { role = person.role, email } = members
  const changed = namesOfChanged(person, members)
  const before = person.role
  const concerns = asksFirst(personId, before, role)
  const access = changed.includes('role') ? await statedAccess(person, context) : []
  const changes = [...changed.map(name => statedChange(person, name, members)), ...access]
  const held = await hold({ personId, concerns, changes })
  if (held) return held
  if (role !== 'owner' && (await isLastOwner(person, context))) return 'last_owner'
  if (email && (await isEmailTaken(email, context, person.id))) return 'email_taken'
  Object.assign(person, members)
  // Who proves the email may accept the invitation, which an owner signed for the email of that time. A link that has not
  // been sent yet would go to the new address.
  if (changed.includes('email')) {
    person.emailChangedAt = now
    await revokePersonLinks(person.id, context, { $or: [{ kind: 'join' }, { url: { $ne: null } }] })
  }
  await endAccessByLinks(person, concerns, context)
  if (changed.length > 0) emit('person.updated', { ...personEvent(person), changed })
  return person
}

/** Whether a step asks the person in the new role, and did not before. */
const asksFirst =
  (id: string, before: PersonRole, role: PersonRole) =>
  (step: ApprovalStep): boolean =>
    isAskedIn(step, { id, role }) && !isAskedIn(step, { id, role: before })

/** Who made a link of a person whom no step asked was one owner alone. */
async function endAccessByLinks(
  { id }: Person,
  concerns: (step: ApprovalStep) => boolean,
  context: WriteContext,
): Promise<void> {
  if ((await policiesConcerned(concerns, context)).length === 0) return
  await revokePersonLinks(id, context, { kind: { $ne: 'recovery' } })
  await endEnrolmentGrants(id, context)
}

/** What approves as the person from then on: an owner may have added it alone, while no step asked the person. */
async function statedAccess(person: Person, { em, now }: WriteContext): Promise<StatedWidening[]> {
  const [passkeys, deputies] = await Promise.all([
    em.find(Passkey, { personId: person.id, revokedAt: null }, { orderBy: { id: 'asc' } }),
    em.find(Deputy, { personId: person.id, until: inRange({ gt: now }) }, { orderBy: { id: 'asc' } }),
  ])
  const people = await em.find(Person, { id: { $in: deputies.map(({ deputyId }) => deputyId) } })
  const stated = { of: 'person', id: person.id, name: person.name, field: 'Passkey', from: 'none' } as const
  return [
    ...passkeys.map(({ name, createdAt }) => ({
      ...stated,
      to: `${quoted(name)}, enrolled ${formatMinute(createdAt)}`,
    })),
    ...deputies.flatMap(deputy => {
      const named = people.find(({ id }) => id === deputy.deputyId)
      return named ? namingInWords(person, named, deputy) : []
    }),
  ]
}

const namesOfChanged = (person: Person, changes: Changes) =>
  keysOf(changes).filter(name => changes[name] !== person[name])

const fields = { name: 'Name', email: 'Email', role: 'Role' } as const

const statedChange = (person: Person, member: keyof Changes, to: Changes): StatedWidening => {
  const inWords = (value: string | null | undefined) =>
    member === 'role' ? String(value) : quoted(value ?? 'none')
  return {
    of: 'person',
    id: person.id,
    name: person.name,
    field: fields[member],
    from: inWords(person[member]),
    to: inWords(to[member]),
  }
}

export const updatePerson: HandlerOf<typeof peopleApi.update> = async ({ params, body }, context) => {
  const { webauthnAssertion, ...members } = body
  const { em, refuse } = context
  const known = await em.findOne(Person, { id: params.id })
  if (!known) return refuse('person_not_found')
  const consent =
    needsConsent(known, members.role, context) && (await verifyOwnerConsent(webauthnAssertion, context))
  if (typeof consent === 'string') return refuse(consent)
  const write = { operation: 'people.update', personId: known.id, members } as const
  const done = await changePerson(write, holdForConsent(write, consent, context), context)
  if (typeof done === 'string') return refuse(done)
  return done instanceof Person ? personResponse(done, await findOpenRecovery(done.id, context)) : done
}

const holdForConsent =
  (write: PersonUpdateWrite, consent: OwnerConsent | false, context: Updating): HoldApproverChange =>
  async change => {
    const { em, refuse } = context
    const person = await em.findOneOrFail(Person, { id: write.personId })
    const { role } = write.members
    if (role === undefined || !needsConsent(person, role, context)) return undefined
    if (consent === false) return refuse('assertion_required')
    if (exceedsKeyScopes(role, consent, context)) return refuse('scope_not_held')
    const subject = { personId: person.id, name: person.name, role }
    const code = await consumeOwnerConsent(consent, subject, context)
    if (code) return refuse(code)
    return holdUntilApproved(write, consent?.person.id ?? null, context)(change)
  }

/** Keeps the last owner one. Take the locks of passkeys and people first. */
export async function assignRole(
  person: Person,
  role: PersonRole,
  context: WriteContext<Pick<typeof personEvents, 'person.updated'>>,
): Promise<void> {
  if (role === person.role || (await isLastOwner(person, context))) return
  await endAccessByLinks(person, asksFirst(person.id, person.role, role), context)
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
