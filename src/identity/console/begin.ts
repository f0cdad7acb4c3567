import type { Context } from '../../kernel/contract/context.ts'
import { type WithHeaders, withHeaders } from '../../kernel/contract/problem.ts'
import type { Condition } from '../../kernel/contract/records.ts'
import { roleScopes, type Scope } from '../../kernel/contract/scopes.ts'
import { SESSION_PREFIX, sessionCookie, sessionIn } from '../../kernel/contract/session-cookie.ts'
import { hashAndHint, hashOf, newSecret } from '../../kernel/database/credential.ts'
import { after, clock } from '../../values/clock.ts'
import type { Person } from '../people/index.ts'
import type { consoleEvents } from './schemas.ts'
import { ConsoleSession, type Ending, SESSION_LASTS_MS, sessionEvent, sessionResponse } from './session.ts'

const MAX_USER_AGENT = 300

export const browserHeaders = {
  cookie: 'The browser’s current session, which ends.',
  'user-agent': 'How the browser calls itself: the list of sessions shows it.',
} as const

type BeginContext = Pick<
  Context<never, typeof consoleEvents>,
  'records' | 'actor' | 'address' | 'headers' | 'ports' | 'emit'
>

interface Beginning {
  readonly person: Pick<Person, 'id' | 'name' | 'role'>
  readonly passkeyId: string | null
}

interface Begun {
  readonly sessionId: string
  answerWith<M extends object>(members: M): WithHeaders<CurrentSession & M>
}

/** Starts a session of a person in this browser and ends the previous one. Only the cookie contains the secret. */
export async function beginSession({ person, passkeyId }: Beginning, context: BeginContext): Promise<Begun> {
  const { records, address, headers, ports, emit } = context
  const { origin } = ports.relyingParty()
  const earlier = sessionIn(headers.cookie, origin)
  if (earlier) await endSessions({ hash: hashOf(earlier) }, 'replaced', context)
  const secret = newSecret(SESSION_PREFIX)
  // One instant for both, since a second reading could violate the table's check by a millisecond.
  const now = clock.real()
  const session = records.create(ConsoleSession, {
    createdAt: now,
    lastUsedAt: now,
    expiresAt: after(now, SESSION_LASTS_MS),
    personId: person.id,
    passkeyId,
    ...hashAndHint(secret),
    address,
    userAgent: headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
  })
  emit('console.signed_in', sessionEvent(session))
  const cookie = sessionCookie(secret, SESSION_LASTS_MS / 1_000, origin)
  return {
    sessionId: session.id,
    answerWith: members =>
      withHeaders(Object.assign(currentSession(session, person), members), { 'Set-Cookie': cookie }),
  }
}

export const currentSession = (session: ConsoleSession, person: Pick<Person, 'name' | 'role'>) =>
  Object.assign(sessionResponse(session, person, session.id), {
    scopes: [...roleScopes[person.role]] as Scope[],
  })

type CurrentSession = ReturnType<typeof currentSession>

type EndContext = Pick<Context<never, Pick<typeof consoleEvents, 'console.signed_out'>>, 'records' | 'emit'>

export function endSession(
  session: ConsoleSession,
  because: Ending,
  { emit }: Pick<EndContext, 'emit'>,
): void {
  Object.assign(session, { revokedAt: clock.real(), revokedBecause: because })
  emit('console.signed_out', { ...sessionEvent(session), because })
}

export async function endSessions(
  condition: Condition<ConsoleSession>,
  because: Ending,
  { records, emit }: EndContext,
): Promise<void> {
  const open = { revokedAt: null, expiresAt: { $gt: clock.real() } }
  const sessions = await records.find(
    ConsoleSession,
    { $and: [condition, open] },
    { orderBy: { id: 'asc' }, lock: true },
  )
  for (const session of sessions) endSession(session, because, { emit })
}
