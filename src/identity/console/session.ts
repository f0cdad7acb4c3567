import { defineEntity, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import {
  nullable,
  realTimeColumn,
  realTimestampColumns,
  recordColumns,
  tenantTable,
  timestampColumn,
  withMembers,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain, secret } from '../../kernel/database/personal.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'
import { Person } from '../customers/index.ts'

export const CONSOLE_SESSION_TTL_MS = minutes(12 * 60)
/** In live mode, a session ends after this time without activity. */
export const CONSOLE_IDLE_TIMEOUT_MS = minutes(5)

export const sessionEndReasons = ['signed_out', 'ended', 'replaced', 'person', 'passkey', 'sso'] as const
export type SessionEndReason = (typeof sessionEndReasons)[number]

const schema = defineEntity({
  ...tenantTable('ConsoleSession', 'console_sessions'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('consolesession'),
    ...realTimestampColumns(),
    personId: p.text(),
    passkeyId: nullable.string(),
    ssoProviderId: plain(nullable.string()),
    hash: secret(p.text()),
    hint: plain(p.text()),
    expiresAt: timestampColumn(),
    lastUsedAt: realTimeColumn(),
    revokedAt: nullable.instant(),
    revokedBecause: plain(nullable.enum(sessionEndReasons)),
    address: personal(nullable.string(), 'network', 'security', 'word'),
    userAgent: personal(nullable.string(), 'device', 'security', 'word'),
  },
})

/** A person's session in the console, which a browser proves by a cookie. Its instants are in real time. */
export class ConsoleSession extends schema.class {}
schema.setClass(ConsoleSession)

type Timed = Pick<ConsoleSession, 'expiresAt' | 'lastUsedAt' | 'revokedAt' | 'revokedBecause'> & {
  mode: Mode
}

function lastsUntil({ mode, expiresAt, lastUsedAt }: Timed): Date {
  const idle = addMs(lastUsedAt, CONSOLE_IDLE_TIMEOUT_MS)
  return mode === 'live' && idle < expiresAt ? idle : expiresAt
}

export function consoleSessionStatus(session: Timed, now: Date) {
  const { expiresAt, revokedAt, revokedBecause } = session
  const until = lastsUntil(session)
  if (revokedAt) return { status: 'ended', endsAt: revokedAt, endedBecause: revokedBecause } as const
  if (until > now) return { status: 'active', endsAt: until, endedBecause: null } as const
  return { status: 'ended', endsAt: until, endedBecause: until < expiresAt ? 'idle' : 'expired' } as const
}

export const consoleSessionResponse = (
  session: ConsoleSession,
  { name, role }: Pick<Person, 'name' | 'role'>,
  currentId: string | undefined,
) =>
  withMembers(session, {
    ...consoleSessionStatus(session, clock.real()),
    personName: name,
    role,
    isCurrent: session.id === currentId,
  })

export async function consoleSessionResponses(
  sessions: readonly ConsoleSession[],
  { em, actor }: ReadContext,
) {
  const people = await em.find(Person, { id: { $in: sessions.map(({ personId }) => personId) } })
  const byId = new Map(people.map(person => [person.id, person]))
  return sessions.map(session =>
    consoleSessionResponse(session, byId.get(session.personId) as Person, actor.sessionId),
  )
}

export const consoleSessionEvent = ({ id, personId, passkeyId, ssoProviderId }: ConsoleSession) => ({
  sessionId: id,
  personId,
  passkeyId,
  ssoProviderId,
})
