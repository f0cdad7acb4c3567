import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { recordCodeAttempt } from '../../kernel/database/attempt-limit.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import {
  nullable,
  realTimestampColumns,
  recordColumns,
  tenantTable,
  timestampColumn,
  withMembers,
} from '../../kernel/database/entity.ts'
import { type RowOf, selectColumnList, tableOf } from '../../record-store/index.ts'
import { clock, days, minutes } from '../../values/clock.ts'
import type { PersonalData } from '../../values/personal.ts'
import { parseUserCode } from '../../values/user-code.ts'
import { PLATFORM_OWNER_ID } from '../customers/index.ts'
import { type ApiKey, findApiKeys } from '../keys/index.ts'

export const deviceSessionMachine = stateMachine('session', {
  requested: ['approved', 'denied', 'expired'],
  approved: ['active', 'revoked', 'expired'],
  active: ['revoked', 'expired'],
  denied: [],
  revoked: [],
  expired: [],
})

/** A device does not name an account, so its row belongs to the platform until a person decides. */
export const livePlatformTenant: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

/** In real time. */
export const DEVICE_CODE_TTL_MS = minutes(10)
/** The least time that a device has to fetch its key after the approval. */
export const DEVICE_KEY_FETCH_TTL_MS = minutes(1)
/** Ended requests are kept for a day, so that late devices get a clear error. */
export const ENDED_REQUEST_RETENTION_MS = days(1)
/** Seconds between two polls of a device. The interval grows by this after each early poll, up to the maximum. */
export const DEVICE_POLL_INTERVAL_S = 5
export const MAX_POLL_INTERVAL_S = 600
export const MAX_WAITING_DEVICES = 100

export const deviceClientTypes = ['sdk', 'cli', 'mcp', 'api', 'browser', 'other'] as const

const schema = defineEntity({
  ...tenantTable('DeviceSession', 'sessions'),
  properties: {
    ...recordColumns('session'),
    ...realTimestampColumns(),
    status: p.enum(deviceSessionMachine.states).onCreate(() => deviceSessionMachine.initial),
    hash: p.text(),
    userHash: p.text(),
    deviceId: p.text(),
    deviceName: p.text(),
    clientType: p.enum(deviceClientTypes),
    /** The requested scopes, and after the decision the granted ones. Null means all scopes of the person. */
    scopes: p
      .array()
      .columnType('text[]')
      .$type<Scope[] | null>()
      .strictNullable()
      .onCreate(() => null),
    toolWrites: p.boolean().onCreate(() => false),
    boundTo: nullable.string(),
    address: nullable.string(),
    client: p.text(),
    intervalSeconds: p.integer().onCreate(() => DEVICE_POLL_INTERVAL_S),
    polledAt: nullable.instant(),
    shownTo: nullable.string(),
    personId: nullable.string(),
    keyId: nullable.string(),
    decidedAt: nullable.instant(),
    endedAt: nullable.instant(),
    /** When it ends without activity. For an active session, when to check whether its key was used meanwhile. */
    endsAt: timestampColumn(),
    forgetAt: nullable.instant(),
  },
})

/**
 * A device that requests its own key, and afterwards the session in which it uses the key. Its instants are
 * in real time.
 */
export class DeviceSession extends schema.class {}
schema.setClass(DeviceSession)

export const sessionsPersonalData = {
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
} as const satisfies PersonalData

export type DeviceSessionRow = RowOf<DeviceSession>

export const deviceSessionsTable = tableOf(DeviceSession)

const ROW = `select ${selectColumnList(deviceSessionsTable, 's')} from sessions s`

const LOCK_BY_DEVICE_CODE = `${ROW} where s.hash = $1 for update`

/** Searches by the digest, so that the response time reveals nothing about existing codes. */
export async function lockSessionByDeviceCode(sql: Sql, code: string): Promise<DeviceSessionRow | undefined> {
  const [row] = await sql<DeviceSessionRow & Row>(LOCK_BY_DEVICE_CODE, [hashSecret(code)])
  return row
}

/**
 * Keyed hashes of the user code, as `readLetterCode` returns it, since a plain hash of so few letters could
 * be brute-forced in minutes. The first hash is stored; the others find codes stored under an old key.
 */
export const userCodeHashes = (
  userCode: string,
  { vault }: Pick<Ports, 'vault'>,
): readonly [string, ...string[]] => vault.digests(userCode, 'user codes of devices')

const BY_USER_CODE = `
${ROW} where s.owner_id = $1 and s.mode = $2 and s.user_hash = any($3::text[]) and s.status = 'requested'`
const LOCK_BY_USER_CODE = `${BY_USER_CODE} for update`

const byUserCode =
  (text: string) =>
  async (code: string, { sql, ports }: WriteContext): Promise<DeviceSessionRow | undefined> =>
    (
      await sql<DeviceSessionRow & Row>(text, [
        livePlatformTenant.ownerId,
        livePlatformTenant.mode,
        userCodeHashes(code, ports),
      ])
    )[0]

const find = byUserCode(BY_USER_CODE)
const lock = byUserCode(LOCK_BY_USER_CODE)

export interface WaitingDeviceRequest {
  readonly request: DeviceSessionRow
  readonly userCode: string
}

export type NotWaitingReason =
  | { readonly refused: 'user_code_unknown' | 'user_code_expired' }
  | { readonly refused: 'too_many_guesses'; readonly waitSeconds: number }

const finding =
  (search: typeof find) =>
  async (typed: string, context: WriteContext): Promise<WaitingDeviceRequest | NotWaitingReason> => {
    const userCode = parseUserCode(typed)
    // No device can have this code, so it does not count as a guess.
    if (userCode === undefined) return { refused: 'user_code_unknown' }
    const [guess, request] = await Promise.all([
      recordCodeAttempt('user code', context),
      search(userCode, context),
    ])
    if (guess.waitSeconds > 0) return { refused: 'too_many_guesses', waitSeconds: guess.waitSeconds }
    if (!request) return { refused: 'user_code_unknown' }
    guess.clear()
    return request.endsAt > clock.real() ? { request, userCode } : { refused: 'user_code_expired' }
  }

/** Each wrong code counts towards the attempt limit. */
export const findWaitingDevice = finding(find)
export const lockWaitingDevice = finding(lock)

type KeyTimes = Pick<ApiKey, 'endsAt' | 'lastUsedAt'>

export function deviceSessionResponse(session: DeviceSessionRow, key: KeyTimes | null) {
  const isOver = deviceSessionMachine.isFinal(session.status)
  const endsAt = isOver ? session.endedAt : key?.endsAt
  return withMembers(session, { endsAt: endsAt ?? session.endsAt, lastUsedAt: key?.lastUsedAt ?? null })
}

export async function deviceSessionResponses(sessions: readonly DeviceSessionRow[], context: ReadContext) {
  const keys = await findApiKeys(
    sessions.flatMap(({ keyId }) => keyId ?? []),
    context,
  )
  const byId = new Map(keys.map(key => [key.id, key]))
  return sessions.map(session => deviceSessionResponse(session, byId.get(session.keyId ?? '') ?? null))
}
