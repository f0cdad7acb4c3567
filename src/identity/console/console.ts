import type { FilterQuery } from '@mikro-orm/core'
import { type Actor, limitedToPerson, type Mode } from '../../kernel/contract/actor.ts'
import { type AuthenticateSecret, area, reaction } from '../../kernel/contract/area.ts'
import { sqlCondition } from '../../kernel/contract/conditions.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { Problem, withHeaders } from '../../kernel/contract/problem.ts'
import { type PersonRole, roleScopes } from '../../kernel/contract/scopes.ts'
import { buildSessionCookie } from '../../kernel/contract/session-cookie.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { addMs, clock, days } from '../../values/clock.ts'
import { requireFirst } from '../../values/collections.ts'
import { isAskedIn, policiesConcerned } from '../approvals/index.ts'
import type { Person } from '../customers/index.ts'
import {
  grantEnrolment,
  linkSubject,
  openSignInChallenge,
  passkeyEvents,
  verifySignIn,
} from '../passkeys/index.ts'
import {
  consumeOwnerConsent,
  exceedsKeyScopes,
  findPerson,
  hasPeople,
  lockPerson,
  type OwnerConsent,
  personEvents,
  redeemPersonLink,
  replacePersonLink,
  verifyOwnerConsent,
} from '../people/index.ts'
import { consoleApi } from './api.ts'
import {
  beginConsoleSession,
  currentSessionResponse,
  endConsoleSession,
  endConsoleSessions,
} from './begin.ts'
import { createSandboxLink } from './sandbox-link.ts'
import { consoleSessionEvents } from './schemas.ts'
import {
  CONSOLE_IDLE_TIMEOUT_MS,
  ConsoleSession,
  consoleSessionResponses,
  consoleSessionStatus,
} from './session.ts'

interface SessionRow extends Row {
  readonly id: string
  readonly owner_id: string
  readonly mode: Mode
  readonly person_id: string
  readonly name: string
  readonly role: PersonRole
  readonly is_active: boolean
}

/** Bounds how often activity is recorded, so that a page with ten requests at once causes one write. */
const NOTED_EVERY_MS = 1_000

/**
 * Finds an open session by its hash, with its person, and records activity, in one statement. Skips the
 * update of a locked row, so that authentication never waits for a lock.
 */
const FIND = `
with holder as (
  select s.id, s.owner_id, s.mode, s.person_id, p.name, p.role, c.status = 'active' as is_active
  from console_sessions s
  join people p on (p.owner_id, p.mode, p.id) = (s.owner_id, s.mode, s.person_id) and p.status = 'active'
  join customers c on c.id = s.owner_id
  where s.hash = $1 and s.revoked_at is null and s.expires_at > $2::timestamptz
    and (s.mode = 'test' or s.last_used_at > $3::timestamptz)
), noted as (
  update console_sessions set last_used_at = $2
  where (owner_id, mode, id) = (
    select s.owner_id, s.mode, s.id from console_sessions s join holder using (owner_id, mode, id)
    where is_active and s.last_used_at <= $4::timestamptz
    for no key update of s skip locked
  )
)
select * from holder`

const NEVER = new Date(0)

const authenticateSession: AuthenticateSecret = async (secret, sql, isBackground) => {
  const now = clock.real()
  const [holder] = await sql<SessionRow>(FIND, [
    hashSecret(secret),
    now,
    addMs(now, -CONSOLE_IDLE_TIMEOUT_MS),
    isBackground ? NEVER : addMs(now, -NOTED_EVERY_MS),
  ])
  if (holder && !holder.is_active) throw new Problem('account_suspended')
  return (
    holder && {
      type: 'console',
      id: holder.person_id,
      tenant: { ownerId: holder.owner_id, mode: holder.mode },
      agentId: null,
      scopes: roleScopes[holder.role],
      sessionId: holder.id,
      name: holder.name,
    }
  )
}

const KEPT_FOR_MS = days(30)

function visibleTo({ actor }: { readonly actor: Actor }): FilterQuery<ConsoleSession> {
  const personId = limitedToPerson(actor, 'console:write')
  return personId === null ? {} : { personId }
}

function withStatus(status: 'active' | 'ended' | undefined): FilterQuery<ConsoleSession> {
  if (!status) return {}
  const now = clock.real()
  return sqlCondition(`(revoked_at is null and expires_at > ? and (mode = 'test' or last_used_at > ?)) = ?`, [
    now,
    addMs(now, -CONSOLE_IDLE_TIMEOUT_MS),
    status === 'active',
  ])
}

/** Who opens the link is the person: they request in that name, and an invited one enrols a passkey. */
async function needsApprovals(person: Person, consent: OwnerConsent, context: ReadContext): Promise<boolean> {
  if (!consent || consent.person.id === person.id) return false
  return (await policiesConcerned(step => isAskedIn(step, person), context)).length > 0
}

const consoleOperations = bindHandlers(consoleApi, {
  async createLink({ body: { personId, webauthnAssertion } }, context) {
    const { refuse, emit } = context
    const consent = await verifyOwnerConsent(webauthnAssertion, context)
    if (typeof consent === 'string') return refuse(consent)
    const person = await lockPerson(personId, context)
    if (!person && personId !== null) return refuse('person_not_found')
    if (!person && (await hasPeople(context))) return refuse('person_required')
    if (exceedsKeyScopes(person?.role ?? 'owner', consent, context)) return refuse('scope_not_held')
    const code = person && (await consumeOwnerConsent(consent, linkSubject(person), context))
    if (code) return refuse(code)
    if (person && (await needsApprovals(person, consent, context))) return refuse('link_needs_approvals')
    const link = await replacePersonLink({ personId, kind: 'sign_in' }, context)
    emit('console.link_created', { linkId: link.id, personId, expiresAt: link.expiresAt })
    return { ...link, personId }
  },

  createSandboxLink,

  async redeemLink({ body }, context) {
    const { service, refuse } = context
    const { unavailable } = service.relyingParty()
    if (unavailable) return refuse('console_unavailable', unavailable)
    const redeemed = await redeemPersonLink(body.token, context)
    if (typeof redeemed === 'string') return refuse(redeemed)
    const { person, kind } = redeemed
    const { sessionId, answerWith } = await beginConsoleSession({ person, passkeyId: null }, context)
    if (kind !== 'sign_in') grantEnrolment(context, { personId: person.id, sessionId, kind })
    return answerWith({ kind })
  },

  signInOptions: (_, context) => openSignInChallenge(context),

  async signIn({ body }, context) {
    const signedIn = await verifySignIn(body, context)
    if (typeof signedIn === 'string') return context.refuse(signedIn)
    return (await beginConsoleSession(signedIn, context)).answerWith({})
  },

  async session(_, context) {
    const { em, actor, refuse } = context
    const session = await em.findOne(ConsoleSession, { id: String(actor.sessionId) })
    const person = session && (await findPerson(session.personId, context))
    return person ? currentSessionResponse(session, person) : refuse('session_not_found')
  },

  async signOut(_, context) {
    const { em, actor, service, refuse } = context
    const session = await em.findOne(ConsoleSession, { id: String(actor.sessionId) }, FOR_UPDATE)
    if (!session || session.revokedAt) return refuse('session_not_found')
    endConsoleSession(session, 'signed_out', context)
    return withHeaders(undefined, { 'Set-Cookie': buildSessionCookie('', 0, service.relyingParty().origin) })
  },

  async sessions({ query: { personId, status } }, context) {
    const conditions = [definedOnly({ personId }), visibleTo(context), withStatus(status)]
    const { data, ...rest } = await context.page(ConsoleSession, { $and: conditions })
    return { ...rest, data: await consoleSessionResponses(data, context) }
  },

  async endSession({ params }, context) {
    const { em, refuse } = context
    const [visible] = await em.find(
      ConsoleSession,
      { $and: [{ id: params.id }, visibleTo(context)] },
      FOR_UPDATE,
    )
    if (!visible) return refuse('session_not_found')
    if (consoleSessionStatus(visible, clock.real()).status === 'ended') return refuse('session_ended')
    endConsoleSession(visible, 'ended', context)
    return requireFirst(await consoleSessionResponses([visible], context))
  },
})

const signsOut = { 'console.signed_out': consoleSessionEvents['console.signed_out'] }

export const consoleArea = area(
  'Console',
  'The sessions of people in the console: links to sign in by, passkeys, and the end of a session.',
  consoleOperations,
  {
    entities: [ConsoleSession],
    credentials: { con: authenticateSession },
    endsCredentials: ['console.signed_out', 'person.removed', 'person.updated'],
    expiring: [{ table: 'console_sessions', column: 'expires_at', keptMs: KEPT_FOR_MS }],
    reactions: {
      'person.removed': reaction(personEvents['person.removed'], signsOut, ({ personId }, context) =>
        endConsoleSessions({ personId }, 'person', context),
      ),
      'passkey.revoked': reaction(passkeyEvents['passkey.revoked'], signsOut, ({ passkeyId }, context) =>
        endConsoleSessions({ passkeyId }, 'passkey', context),
      ),
    },
  },
)
