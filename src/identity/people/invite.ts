import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { Accepted, Refusal } from '../../kernel/contract/problem.ts'
import { withMembers } from '../../kernel/database/entity.ts'
import { lockTenant } from '../../kernel/database/tenant-lock.ts'
import { quoted } from '../../statements/index.ts'
import { newId } from '../../values/ids.ts'
import { type HoldApproverChange, holdUntilApproved, isAskedIn } from '../approvals/index.ts'
import { MAX_PEOPLE, Person, personEvent } from '../customers/index.ts'
import { linkSubject } from '../passkeys/index.ts'
import type { peopleApi } from './api.ts'
import { newPersonLink, replacePersonLink } from './link.ts'
import { emitLinkEmailed, linkEmailBlocker } from './link-email.ts'
import { consumeOwnerConsent, exceedsKeyScopes, verifyOwnerConsent } from './owner-consent.ts'
import { actForTenantOfPerson, lockPerson } from './recover.ts'
import { findOpenRecovery } from './recoveries.ts'
import { personResponse } from './response.ts'
import type { personEvents } from './schemas.ts'

export const isEmailTaken = async (email: string, { em }: ReadContext, personId = ''): Promise<boolean> =>
  (await em.count(Person, {
    id: { $ne: personId },
    ...sqlCondition('lower(email) = lower(?)', [email]),
  })) > 0

type Linked = WriteContext<
  Pick<typeof personEvents, 'person.invited' | 'person.updated' | 'person.link_emailed'>
>

type Send = 'email' | null

export interface InvitationWrite {
  readonly operation: 'people.create'
  /** People sign it before there is a record. */
  readonly id: string
  readonly name: string
  readonly email: string | null
  readonly role: Person['role']
  readonly send: Send
}

/** Locks the tenant, so that concurrent invitations respect the limit and unique emails. */
export async function inviteByLink(
  { id, name, email, role, send }: InvitationWrite,
  hold: HoldApproverChange,
  context: Linked,
) {
  const { em, now, systems, emit } = context
  const isEmailed = send === 'email'
  const blocker = isEmailed && linkEmailBlocker({ email, emailChangedAt: null }, now, systems)
  if (blocker) return blocker
  const [, count, isTaken] = await Promise.all([
    lockTenant(context, 'people'),
    em.count(Person, { status: { $ne: 'removed' } }),
    email !== null && isEmailTaken(email, context),
  ])
  const stated = { of: 'person', id, name } as const
  const to = `${role}${email === null ? '' : `, ${quoted(email)}`}`
  const held = await hold({
    personId: id,
    concerns: step => isAskedIn(step, { id, role }),
    changes: [
      { ...stated, field: 'Role', from: 'none', to },
      { ...stated, field: 'Link', from: 'none', to: linkInWords(email, send) },
    ],
  })
  if (held) return held
  if (count >= MAX_PEOPLE) return 'too_many_people'
  if (isTaken) return 'email_taken'
  const person = em.create(Person, { id, name, email, role })
  const link = newPersonLink({ personId: id, kind: 'join', isEmailed }, context)
  emit('person.invited', personEvent(person))
  if (isEmailed) emitLinkEmailed(person, link.id, context)
  return { person, ...link }
}

/** An identity provider lets in who proves the email, however the link is handed over. */
function linkInWords(email: string | null, send: Send): string {
  if (email === null) return 'shown to the last person who approves, to be handed over'
  return send === 'email'
    ? `sent to ${quoted(email)}`
    : `shown to the last person who approves, to be handed over to ${quoted(email)}`
}

export const invitePerson: HandlerOf<typeof peopleApi.create> = async ({ body }, context) => {
  const { refuse } = context
  const { webauthnAssertion, send = null, ...members } = body
  const consent = await verifyOwnerConsent(webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  if (exceedsKeyScopes(members.role, consent, context)) return refuse('scope_not_held')
  const write = { operation: 'people.create', id: newId('person'), ...members, send } as const
  const hold: HoldApproverChange = async change => {
    const code = await consumeOwnerConsent(consent, members, context)
    if (code) return refuse(code)
    return holdUntilApproved(write, consent?.person.id ?? null, context)(change)
  }
  const done = await inviteByLink(write, hold, context)
  if (typeof done === 'string') return refuse(done)
  if (done instanceof Refusal || done instanceof Accepted) return done
  const { person, url, expiresAt } = done
  return withMembers(personResponse(person, null), { joinUrl: url, joinUrlExpiresAt: expiresAt })
}

export interface LinkWrite {
  readonly operation: 'people.link'
  readonly personId: string
  readonly send: Send
}

/** Who opens the link joins as this person, and enrols a passkey. */
export async function makeJoinLink({ personId, send }: LinkWrite, hold: HoldApproverChange, context: Linked) {
  const { now, systems } = context
  const person = await lockPerson(personId, context)
  if (!person) return 'person_not_found'
  const { id, name, email } = person
  const isEmailed = send === 'email'
  const blocker = isEmailed && linkEmailBlocker(person, now, systems)
  if (blocker) return blocker
  const held = await hold({
    personId,
    concerns: step => isAskedIn(step, person),
    changes: [{ of: 'person', id, name, field: 'Link', from: 'none', to: linkInWords(email, send) }],
  })
  return held ?? linkOf(person, { kind: 'join', isEmailed }, context)
}

export const createPersonLink: HandlerOf<typeof peopleApi.link> = async (input, context) => {
  const { actor, em, refuse } = context
  const { send = null, webauthnAssertion } = input.body
  const personId = input.params.id
  if (actor.type === 'dash') return recoveryLink(personId, send === 'email', context)
  const known = await em.findOne(Person, { id: personId })
  if (!known) return refuse('person_not_found')
  const consent = await verifyOwnerConsent(webauthnAssertion, context)
  if (typeof consent === 'string') return refuse(consent)
  const write = { operation: 'people.link', personId, send } as const
  const hold: HoldApproverChange = async change => {
    const person = await em.findOneOrFail(Person, { id: personId })
    if (exceedsKeyScopes(person.role, consent, context)) return refuse('scope_not_held')
    const code = await consumeOwnerConsent(consent, linkSubject(person), context)
    if (code) return refuse(code)
    const signerId = consent?.person.id ?? null
    // Who signs a link for themselves has a passkey already.
    return signerId === personId ? undefined : holdUntilApproved(write, signerId, context)(change)
  }
  const done = await makeJoinLink(write, hold, context)
  return typeof done === 'string' ? refuse(done) : done
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
  context: Linked,
) {
  const made = await replacePersonLink({ personId: person.id, ...members }, context)
  context.emit('person.updated', { ...personEvent(person), changed: ['link'] })
  if (members.isEmailed) emitLinkEmailed(person, made.id, context)
  return { ...made, personId: person.id, kind: members.kind }
}
