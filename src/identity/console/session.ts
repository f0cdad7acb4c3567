import { defineEntity, p } from '@mikro-orm/core'
import type { Mode } from '../../kernel/contract/actor.ts'
import {
  nullable,
  realTime,
  realTimestamps,
  record,
  tenantTable,
  timestamp,
} from '../../kernel/database/entity.ts'
import { after, minutes } from '../../values/clock.ts'

export const SESSION_LASTS_MS = minutes(12 * 60)
/** In live mode a session ends when nobody has done anything for so long. */
export const IDLE_ENDS_MS = minutes(5)

/** Why a session was ended before its time. */
export const endings = ['signed_out', 'ended', 'replaced', 'person', 'passkey'] as const
export type Ending = (typeof endings)[number]

const schema = defineEntity({
  ...tenantTable('ConsoleSession', 'console_sessions'),
  properties: {
    ...record('consolesession'),
    ...realTimestamps(),
    personId: p.text(),
    /** The passkey that began it; null where a link did. */
    passkeyId: nullable.string(),
    hash: p.text(),
    hint: p.text(),
    expiresAt: timestamp(),
    /** When somebody has last done something, to the second. */
    lastUsedAt: realTime(),
    revokedAt: nullable.instant(),
    revokedBecause: p
      .enum(endings)
      .$type<Ending | null>()
      .strictNullable()
      .onCreate(() => null),
    address: nullable.string(),
    userAgent: nullable.string(),
  },
})

/** A person's session in the console: a browser proves it by a cookie. Its instants are in real time. */
export class ConsoleSession extends schema.class {}
schema.setClass(ConsoleSession)

type Timed = Pick<ConsoleSession, 'expiresAt' | 'lastUsedAt' | 'revokedAt' | 'revokedBecause'> & {
  mode: Mode
}

/** When the session ends if nobody does anything from now on. */
function lastsUntil({ mode, expiresAt, lastUsedAt }: Timed): Date {
  const idle = after(lastUsedAt, IDLE_ENDS_MS)
  return mode === 'live' && idle < expiresAt ? idle : expiresAt
}

/** How a session stands at this instant: when it has ended, or will. */
export function standingOf(session: Timed, now: Date) {
  const { expiresAt, revokedAt, revokedBecause } = session
  const until = lastsUntil(session)
  if (revokedAt) return { status: 'ended', endsAt: revokedAt, endedBecause: revokedBecause } as const
  if (until > now) return { status: 'active', endsAt: until, endedBecause: null } as const
  return { status: 'ended', endsAt: until, endedBecause: until < expiresAt ? 'idle' : 'expired' } as const
}
