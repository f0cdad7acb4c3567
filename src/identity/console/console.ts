import { area, reaction } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { withHeaders } from '../../kernel/contract/problem.ts'
import { type Condition, sqlCondition } from '../../kernel/contract/records.ts'
import { sessionCookie } from '../../kernel/contract/session-cookie.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { after, clock, days } from '../../values/clock.ts'
import { grantEnrolment, openSignInChallenge, passkeyEvents, verifySignIn } from '../passkeys/index.ts'
import {
  consentOf,
  findPerson,
  hasAnybody,
  isBeyondKey,
  lockPerson,
  makeLink,
  personEvents,
  redeemLink,
  useConsent,
} from '../people/index.ts'
import { consoleApi } from './api.ts'
import { authenticateSession } from './authenticate.ts'
import { beginSession, currentSession, endSession, endSessions } from './begin.ts'
import { consoleEvents } from './schemas.ts'
import { ConsoleSession, consolePersonal, IDLE_ENDS_MS, sessionResponses, standingOf } from './session.ts'

const KEPT_FOR_MS = days(30)

/** Those of the tenant; for a person who is no owner, that person's own. */
const visibleTo = ({ actor }: Pick<Context, 'actor'>): Condition<ConsoleSession> =>
  actor.type === 'console' && !actor.scopes.has('console:write') ? { personId: String(actor.id) } : {}

/** As `standingOf` says of one session. */
function withStatus(status: 'active' | 'ended' | undefined): Condition<ConsoleSession> {
  if (!status) return {}
  const now = clock.real()
  return sqlCondition(`(revoked_at is null and expires_at > ? and (mode = 'test' or last_used_at > ?)) = ?`, [
    now,
    after(now, -IDLE_ENDS_MS),
    status === 'active',
  ])
}

const consoleOperations = implement(consoleApi, {
  async createLink({ body: { personId, webauthnAssertion } }, context) {
    const { refuse, emit } = context
    const consent = await consentOf(webauthnAssertion, context)
    if (typeof consent === 'string') return refuse(consent)
    const person = await lockPerson(personId, context)
    if (!person && personId !== null) return refuse('person_not_found')
    if (!person && (await hasAnybody(context))) return refuse('person_required')
    if (isBeyondKey(person?.role ?? 'owner', consent, context)) return refuse('scope_not_held')
    const code = person && (await useConsent(consent, { personId: person.id }, context))
    if (code) return refuse(code)
    const link = await makeLink({ personId, kind: 'sign_in' }, context)
    emit('console.link_created', { linkId: link.id, personId, expiresAt: link.expiresAt })
    return { ...link, personId }
  },

  async redeemLink({ body }, context) {
    const { ports, refuse } = context
    const { unavailable } = ports.relyingParty()
    if (unavailable) return refuse('console_unavailable', unavailable)
    const redeemed = await redeemLink(body.token, context)
    if (typeof redeemed === 'string') return refuse(redeemed)
    const { person, kind } = redeemed
    const { sessionId, answerWith } = await beginSession({ person, passkeyId: null }, context)
    if (kind !== 'sign_in') grantEnrolment(context, { personId: person.id, sessionId, kind })
    return answerWith({ kind })
  },

  signInOptions: (_, context) => openSignInChallenge(context),

  async signIn({ body }, context) {
    const signedIn = await verifySignIn(body, context)
    if (typeof signedIn === 'string') return context.refuse(signedIn)
    return (await beginSession(signedIn, context)).answerWith({})
  },

  async session(_, { records, actor, refuse }) {
    const session = await records.findOne(ConsoleSession, { id: String(actor.sessionId) })
    const person = session && (await findPerson(session.personId, { records }))
    return person ? currentSession(session, person) : refuse('session_not_found')
  },

  async signOut(_, { records, actor, ports, emit, refuse }) {
    const session = await records.lock(ConsoleSession, String(actor.sessionId))
    if (!session || session.revokedAt) return refuse('session_not_found')
    endSession(session, 'signed_out', { emit })
    return withHeaders(undefined, { 'Set-Cookie': sessionCookie('', 0, ports.relyingParty().origin) })
  },

  async sessions({ query: { personId, status } }, context) {
    const conditions = [definedOnly({ personId }), visibleTo(context), withStatus(status)]
    const { data, ...rest } = await context.page(ConsoleSession, { $and: conditions })
    return { ...rest, data: await sessionResponses(data, context) }
  },

  async endSession({ params }, context) {
    const { records, refuse } = context
    const [visible] = await records.find(
      ConsoleSession,
      { $and: [{ id: params.id }, visibleTo(context)] },
      { lock: true },
    )
    if (!visible) return refuse('session_not_found')
    if (standingOf(visible, clock.real()).status === 'ended') return refuse('session_ended')
    endSession(visible, 'ended', context)
    const [response] = await sessionResponses([visible], context)
    return response as NonNullable<typeof response>
  },
})

const signsOut = { 'console.signed_out': consoleEvents['console.signed_out'] }

export const consoleArea = area(
  'Console',
  'The sessions of people in the console: links to sign in by, passkeys, and the end of a session.',
  consoleOperations,
  {
    personal: consolePersonal,
    entities: [ConsoleSession],
    credentials: { con: authenticateSession },
    // Another role has other scopes.
    endsCredentials: ['console.signed_out', 'person.removed', 'person.updated'],
    expiring: [{ table: 'console_sessions', column: 'expires_at', keptMs: KEPT_FOR_MS }],
    reactions: {
      'person.removed': reaction(personEvents['person.removed'], signsOut, ({ personId }, context) =>
        endSessions({ personId }, 'person', context),
      ),
      'passkey.revoked': reaction(passkeyEvents['passkey.revoked'], signsOut, ({ passkeyId }, context) =>
        endSessions({ passkeyId }, 'passkey', context),
      ),
    },
  },
)
