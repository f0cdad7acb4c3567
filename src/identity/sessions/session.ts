import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { machine } from '../../kernel/contract/machine.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectList } from '../../kernel/database/bulk-sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import {
  nullable,
  realTimestamps,
  record,
  tenantTable,
  timestamp,
  withMembers,
} from '../../kernel/database/entity.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { countGuess, type Guessing } from '../../kernel/database/wrong-guesses.ts'
import { clock, days, minutes } from '../../values/clock.ts'
import { readLetterCode } from '../../values/letter-code.ts'
import type { Personal } from '../../values/personal.ts'
import { PLATFORM_OWNER } from '../customers/index.ts'
import { findKeys, type Key } from '../keys/index.ts'

export const sessionMachine = machine('session', {
  requested: ['approved', 'denied', 'expired'],
  approved: ['active', 'revoked', 'expired'],
  active: ['revoked', 'expired'],
  denied: [],
  revoked: [],
  expired: [],
})

/** A device does not say for which account it asks: until somebody decides, the row is the platform's. */
export const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

/** How long a device's codes live, in real time. */
export const CODES_LAST_MS = minutes(10)
/** The time that a device has at least to fetch its key, once somebody has approved. */
export const FETCH_LASTS_MS = minutes(1)
/** For a day, a device that comes too late is told so. */
export const KEPT_FOR_MS = days(1)
/** How many seconds a device waits between two questions, and how many more each time that it did not. */
export const INTERVAL_S = 5
export const MOST_INTERVAL_S = 600
/** How many requests of one client may wait at once. */
export const MOST_WAITING = 100

export const clientTypes = ['sdk', 'cli', 'mcp', 'api', 'browser', 'other'] as const

const schema = defineEntity({
  ...tenantTable('DeviceSession', 'sessions'),
  properties: {
    ...record('session'),
    ...realTimestamps(),
    status: p.enum(sessionMachine.states).onCreate(() => sessionMachine.initial),
    /** Of the code by which the device asks. */
    hash: p.text(),
    /** Of the code that the person types. */
    userHash: p.text(),
    deviceId: p.text(),
    deviceName: p.text(),
    clientType: p.enum(clientTypes),
    /** Asked for, and from the decision on given. Null: all that the person may give. */
    scopes: p
      .array()
      .columnType('text[]')
      .$type<Scope[] | null>()
      .strictNullable()
      .onCreate(() => null),
    /** Whether the device has asked for a key that changes things by the tools of an assistant. */
    toolWrites: p.boolean().onCreate(() => false),
    boundTo: nullable.string(),
    /** Where the device asked from, and the client behind it. */
    address: nullable.string(),
    client: p.text(),
    intervalSeconds: p.integer().onCreate(() => INTERVAL_S),
    polledAt: nullable.instant(),
    /** The account one of whose people has looked it up last. */
    shownTo: nullable.string(),
    /** The person who has decided. */
    personId: nullable.string(),
    keyId: nullable.string(),
    decidedAt: nullable.instant(),
    endedAt: nullable.instant(),
    /** When it ends if nothing happens; of an active one, when to look whether the key was used meanwhile. */
    endsAt: timestamp(),
    /** When it is deleted, where nobody has decided. */
    forgetAt: nullable.instant(),
  },
})

/** A device that asks for a key of its own, and from then on the session in which it uses it. Its instants are in real time. */
export class DeviceSession extends schema.class {}
schema.setClass(DeviceSession)

export const sessionsPersonal = {
  sessions: {
    personal: {
      address: { kind: 'network', ground: 'security', forget: 'word' },
      device_id: { kind: 'device', ground: 'security', forget: 'pseudonym' },
      device_name: { kind: 'device', ground: 'security', forget: 'word' },
      client: { kind: 'device', ground: 'security', forget: 'word' },
    },
    plain: ['client_type', 'scopes', 'bound_to', 'shown_to', 'key_id'],
    secret: ['hash', 'user_hash'],
    about: { person: ['person_id'] },
  },
} as const satisfies Personal

export type SessionRow = RowOf<DeviceSession>

export const sessionsTable = tableOf(DeviceSession)

const ROW = `select ${selectList(sessionsTable, 's')} from sessions s`

const LOCK_BY_DEVICE_CODE = `${ROW} where s.hash = $1 for update`

/** Locks a session by the code of its device; the search goes by the digest, so its time tells nothing about existing codes. */
export async function lockByDeviceCode(sql: Sql, code: string): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow & Row>(LOCK_BY_DEVICE_CODE, [hashOf(code)])
  return row
}

/**
 * Of the few letters that people type, as `readLetterCode` gives them: with a key, as all codes that there are would be tried
 * in minutes otherwise. The first is how the code is kept; it is found by the others while an old key is on its way out.
 */
export const userHashesOf = (
  userCode: string,
  { vault }: Pick<Ports, 'vault'>,
): readonly [string, ...string[]] => vault.digests(userCode, 'user codes of devices')

const BY_USER_CODE = `
${ROW} where s.owner_id = $1 and s.mode = $2 and s.user_hash = any($3::text[]) and s.status = 'requested'`
const LOCK_BY_USER_CODE = `${BY_USER_CODE} for update`

type Finding = Guessing & Pick<Context, 'sql' | 'ports'>

const byUserCode =
  (text: string) =>
  async (code: string, { sql, ports }: Finding): Promise<SessionRow | undefined> =>
    (await sql<SessionRow & Row>(text, [platform.ownerId, platform.mode, userHashesOf(code, ports)]))[0]

const find = byUserCode(BY_USER_CODE)
const lock = byUserCode(LOCK_BY_USER_CODE)

/** A request that waits, with its code as it is shown everywhere. */
export interface Waiting {
  readonly request: SessionRow
  readonly userCode: string
}

export type NotWaiting =
  | { readonly refused: 'user_code_unknown' | 'user_code_expired' }
  | { readonly refused: 'too_many_guesses'; readonly waitSeconds: number }

const finding =
  (search: typeof find) =>
  async (typed: string, context: Finding): Promise<Waiting | NotWaiting> => {
    const userCode = readLetterCode(typed)
    // It can be the code of no device, so it is no guess.
    if (userCode === undefined) return { refused: 'user_code_unknown' }
    const [guess, request] = await Promise.all([countGuess('user code', context), search(userCode, context)])
    if (guess.waitSeconds > 0) return { refused: 'too_many_guesses', waitSeconds: guess.waitSeconds }
    if (!request) return { refused: 'user_code_unknown' }
    guess.wasRight()
    return request.endsAt > clock.real() ? { request, userCode } : { refused: 'user_code_expired' }
  }

/** Finds the request that waits under a code which a person has typed. Each wrong code is counted. */
export const findWaiting = finding(find)
/** The same, and locks it. */
export const lockWaiting = finding(lock)

type KeyTimes = Pick<Key, 'endsAt' | 'lastUsedAt'>

/** A session as the API shows it, with what its key says of its time. */
export function sessionResponse(session: SessionRow, key: KeyTimes | null) {
  const isOver = sessionMachine.isFinal(session.status)
  const endsAt = isOver ? session.endedAt : key?.endsAt
  return withMembers(session, { endsAt: endsAt ?? session.endsAt, lastUsedAt: key?.lastUsedAt ?? null })
}

/** Sessions as the API shows them, with one statement for the keys of all. */
export async function sessionResponses(sessions: readonly SessionRow[], context: Pick<Context, 'records'>) {
  const keys = await findKeys(
    sessions.flatMap(({ keyId }) => keyId ?? []),
    context,
  )
  const byId = new Map(keys.map(key => [key.id, key]))
  return sessions.map(session => sessionResponse(session, byId.get(session.keyId ?? '') ?? null))
}
