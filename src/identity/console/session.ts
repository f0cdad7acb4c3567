import { defineEntity, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import {
  nullable,
  realTime,
  realTimestamps,
  record,
  tenantTable,
  timestamp,
  withMembers,
} from '../../kernel/database/entity.ts'
import { after, clock, minutes } from '../../values/clock.ts'
import type { Personal } from '../../values/personal.ts'
import { Person } from '../people/index.ts'

export const SESSION_LASTS_MS = minutes(12 * 60)
/** In live mode, a session ends after this time without activity. */
export const IDLE_ENDS_MS = minutes(5)

export const endings = ['signed_out', 'ended', 'replaced', 'person', 'passkey'] as const
export type Ending = (typeof endings)[number]

const schema = defineEntity({
  ...tenantTable('ConsoleSession', 'console_sessions'),
  properties: {
    ...record('consolesession'),
    ...realTimestamps(),
    personId: p.text(),
    passkeyId: nullable.string(),
    hash: p.text(),
    hint: p.text(),
    expiresAt: timestamp(),
    lastUsedAt: realTime(),
    revokedAt: nullable.instant(),
    revokedBecause: nullable.enum(endings),
    address: nullable.string(),
    userAgent: nullable.string(),
  },
})

/** A person's session in the console, which a browser proves by a cookie. Its instants are in real time. */
export class ConsoleSession extends schema.class {}
schema.setClass(ConsoleSession)

type Timed = Pick<ConsoleSession, 'expiresAt' | 'lastUsedAt' | 'revokedAt' | 'revokedBecause'> & {
  mode: Mode
}

function lastsUntil({ mode, expiresAt, lastUsedAt }: Timed): Date {
  const idle = after(lastUsedAt, IDLE_ENDS_MS)
  return mode === 'live' && idle < expiresAt ? idle : expiresAt
}

export function sessionStatus(session: Timed, now: Date) {
  const { expiresAt, revokedAt, revokedBecause } = session
  const until = lastsUntil(session)
  if (revokedAt) return { status: 'ended', endsAt: revokedAt, endedBecause: revokedBecause } as const
  if (until > now) return { status: 'active', endsAt: until, endedBecause: null } as const
  return { status: 'ended', endsAt: until, endedBecause: until < expiresAt ? 'idle' : 'expired' } as const
}

export const consolePersonal = {
  console_sessions: {
    personal: {
      address: { kind: 'network', ground: 'security', forget: 'word' },
      user_agent: { kind: 'device', ground: 'security', forget: 'word' },
    },
    plain: ['hint', 'revoked_because'],
    secret: ['hash'],
    about: { person: ['person_id'] },
  },
} as const satisfies Personal

type ResponseContext = Pick<Context, 'records' | 'actor'>

export const sessionResponse = (
  session: ConsoleSession,
  { name, role }: Pick<Person, 'name' | 'role'>,
  currentId: string | undefined,
) =>
  withMembers(session, {
    ...sessionStatus(session, clock.real()),
    personName: name,
    role,
    isCurrent: session.id === currentId,
  })

export async function sessionResponses(
  sessions: readonly ConsoleSession[],
  { records, actor }: ResponseContext,
) {
  const people = await records.find(Person, { id: { $in: sessions.map(({ personId }) => personId) } })
  const byId = new Map(people.map(person => [person.id, person]))
  return sessions.map(session =>
    sessionResponse(session, byId.get(session.personId) as Person, actor.sessionId),
  )
}

export const sessionEvent = ({ id, personId, passkeyId }: ConsoleSession) => ({
  sessionId: id,
  personId,
  passkeyId,
})
