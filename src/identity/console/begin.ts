import type { FilterQuery } from '@mikro-orm/core'
import { inRange } from '../../kernel/contract/conditions.ts'
import type { Context, EmitContext, WriteContext } from '../../kernel/contract/context.ts'
import { type AnswerWithHeaders, withHeaders } from '../../kernel/contract/problem.ts'
import { roleScopes, type Scope } from '../../kernel/contract/scopes.ts'
import {
  buildSessionCookie,
  readSessionCookie,
  SESSION_SECRET_PREFIX,
} from '../../kernel/contract/session-cookie.ts'
import { hashAndHint, hashSecret, newSecret } from '../../kernel/database/credential.ts'
import { FOR_UPDATE_BY_ID } from '../../kernel/database/entity.ts'
import { addMs, clock } from '../../values/clock.ts'
import type { Person } from '../customers/index.ts'
import type { consoleSessionEvents } from './schemas.ts'
import {
  CONSOLE_SESSION_TTL_MS,
  ConsoleSession,
  consoleSessionEvent,
  consoleSessionResponse,
  type SessionEndReason,
} from './session.ts'

const MAX_USER_AGENT = 300

export const sessionRequestHeaders = {
  cookie: 'The browser’s current session, which ends.',
  'user-agent': 'The browser’s name for itself, which the list of sessions shows.',
} as const

type BeginContext = Context<
  never,
  Pick<typeof consoleSessionEvents, 'console.signed_in' | 'console.signed_out'>
>

interface Beginning {
  readonly person: Pick<Person, 'id' | 'name' | 'role'>
  readonly passkeyId: string | null
  readonly ssoProviderId?: string
}

interface Begun {
  readonly sessionId: string
  answerWith<M extends object>(members: M): AnswerWithHeaders<CurrentSession & M>
}

/** Starts a session of a person in this browser and ends the previous one. Only the cookie contains the secret. */
export async function beginConsoleSession(
  { person, passkeyId, ssoProviderId }: Beginning,
  context: BeginContext,
): Promise<Begun> {
  const { em, address, headers, service, emit } = context
  const { origin } = service.relyingParty()
  const earlier = readSessionCookie(headers.cookie, origin)
  if (earlier) await endConsoleSessions({ hash: hashSecret(earlier) }, 'replaced', context)
  const secret = newSecret(SESSION_SECRET_PREFIX)
  // One instant for both, since a second reading could violate the table's check by a millisecond.
  const now = clock.real()
  const session = em.create(ConsoleSession, {
    createdAt: now,
    lastUsedAt: now,
    expiresAt: addMs(now, CONSOLE_SESSION_TTL_MS),
    personId: person.id,
    passkeyId,
    ssoProviderId: ssoProviderId ?? null,
    ...hashAndHint(secret),
    address,
    userAgent: headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
  })
  emit('console.signed_in', consoleSessionEvent(session))
  const cookie = buildSessionCookie(secret, CONSOLE_SESSION_TTL_MS / 1_000, origin)
  return {
    sessionId: session.id,
    answerWith: members =>
      withHeaders(Object.assign(currentSessionResponse(session, person), members), { 'Set-Cookie': cookie }),
  }
}

export const currentSessionResponse = (session: ConsoleSession, person: Pick<Person, 'name' | 'role'>) =>
  Object.assign(consoleSessionResponse(session, person, session.id), {
    scopes: [...roleScopes[person.role]] as Scope[],
  })

type CurrentSession = ReturnType<typeof currentSessionResponse>

type EndEvents = Pick<typeof consoleSessionEvents, 'console.signed_out'>

export function endConsoleSession(
  session: ConsoleSession,
  because: SessionEndReason,
  { emit }: EmitContext<EndEvents>,
): void {
  Object.assign(session, { revokedAt: clock.real(), revokedBecause: because })
  emit('console.signed_out', { ...consoleSessionEvent(session), because })
}

export async function endConsoleSessions(
  condition: FilterQuery<ConsoleSession>,
  because: SessionEndReason,
  context: WriteContext<EndEvents>,
): Promise<void> {
  const open = { revokedAt: null, expiresAt: inRange({ gt: clock.real() }) }
  const sessions = await context.em.find(ConsoleSession, { $and: [condition, open] }, FOR_UPDATE_BY_ID)
  for (const session of sessions) endConsoleSession(session, because, context)
}
