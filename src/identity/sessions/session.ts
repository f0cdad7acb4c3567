import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext } from '../../kernel/contract/context.ts'
import { type StateMachine, stateMachine } from '../../kernel/contract/machine.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectColumnList } from '../../kernel/database/bulk-sql.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import {
  booleanColumn,
  nullable,
  realTimestampColumns,
  recordColumns,
  tenantTable,
  timestampColumn,
  withMembers,
} from '../../kernel/database/entity.ts'
import { personal, personalTable, plain, secret } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { days, minutes } from '../../values/clock.ts'
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

export const pairingMachine = stateMachine('pairing', {
  pending: ['approved', 'denied', 'void'],
  approved: ['paired', 'void'],
  denied: ['void'],
  paired: [],
  void: [],
})

type DeviceStatus = (typeof deviceSessionMachine.states)[number]
type PairingStatus = (typeof pairingMachine.states)[number]

/** What differs between the ways to get a key. Times are in real time. */
export interface SessionKind {
  readonly name: 'device' | 'pairing'
  readonly idPrefix: string
  readonly codePrefix: string
  readonly machine: Pick<StateMachine<DeviceStatus | PairingStatus>, 'initial' | 'can' | 'move'>
  readonly codeTtlMs: number
  readonly pollIntervalS: number
  /** How long a request that becomes no session is kept after its end, so that late devices get a clear error. */
  readonly retentionMs: number
  /** The status of a request whose key has been fetched. */
  readonly fetched: 'active' | 'paired'
  /** Whether the record is kept once it is decided, and lasts as long as its key. Otherwise only the key does. */
  readonly becomesSession: boolean
}

/** A device that shows a code for a person to type (RFC 8628). */
export const deviceKind: SessionKind = {
  name: 'device',
  idPrefix: 'session',
  codePrefix: 'dvc_',
  machine: deviceSessionMachine,
  codeTtlMs: minutes(10),
  pollIntervalS: 5,
  retentionMs: days(1),
  fetched: 'active',
  becomesSession: true,
}

/** A terminal that opens a page, and proves by a verifier that the key is for it (RFC 7636). */
export const pairingKind: SessionKind = {
  name: 'pairing',
  idPrefix: 'pairing',
  codePrefix: '',
  machine: pairingMachine,
  codeTtlMs: minutes(5),
  pollIntervalS: 2,
  retentionMs: minutes(60),
  fetched: 'paired',
  becomesSession: false,
}

/** A device does not name an account, so its row belongs to the platform until a person decides. */
export const livePlatformTenant: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

export const deviceClientTypes = ['sdk', 'cli', 'mcp', 'api', 'browser', 'other'] as const

const schema = defineEntity({
  ...tenantTable('DeviceSession', 'sessions'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('session'),
    ...realTimestampColumns(),
    kind: plain(p.enum([deviceKind.name, pairingKind.name])),
    status: p.text().$type<DeviceStatus | PairingStatus>(),
    hash: secret(p.text()),
    /** The code that the person types into the page, of which only a digest is kept. */
    userHash: secret(nullable.string()),
    /** The code that the person compares, which the page shows too. */
    pairingCode: secret(nullable.string()),
    /** SHA-256 of a verifier that only the terminal knows, in base64url (RFC 7636, S256). */
    codeChallenge: secret(nullable.string()),
    deviceId: personal(nullable.string(), 'device', 'security', 'pseudonym'),
    deviceName: personal(p.text(), 'device', 'security', 'word'),
    clientType: plain(p.enum(deviceClientTypes)),
    /** The requested scopes, and after the decision the granted ones. Null means all scopes of the person. */
    scopes: plain(nullable.textArray<Scope>()),
    toolWrites: booleanColumn(),
    boundTo: plain(nullable.string()),
    address: personal(nullable.string(), 'network', 'security', 'word'),
    client: personal(p.text(), 'device', 'security', 'word'),
    intervalSeconds: p.integer(),
    polledAt: nullable.instant(),
    shownTo: plain(nullable.string()),
    personId: nullable.string(),
    /** In which the person decided. */
    consoleSessionId: plain(nullable.string()),
    keyId: plain(nullable.string()),
    decidedAt: nullable.instant(),
    endedAt: nullable.instant(),
    /** When it ends without activity. For an active session, when to check whether its key was used meanwhile. */
    endsAt: timestampColumn(),
    forgetAt: nullable.instant(),
  },
})

/**
 * A device or terminal that requests its own key; of a device afterwards the session in which it uses the key.
 * Its instants are in real time.
 */
export class DeviceSession extends schema.class {}
schema.setClass(DeviceSession)

export type SessionRow = RowOf<DeviceSession>
export type DeviceRow = SessionRow & { status: DeviceStatus; deviceId: string }
export type PairingRow = SessionRow & { status: PairingStatus; pairingCode: string }

export const sessionsTable = tableOf(DeviceSession)

export const SELECT_SESSION = `select ${selectColumnList(sessionsTable, 's')} from sessions s`

const FIND = `${SELECT_SESSION} where s.hash = $1 and s.kind = $2`
const LOCK = `${FIND} for update`

const byCode =
  (text: string) =>
  async <R extends SessionRow>({ name }: SessionKind, code: string, sql: Sql): Promise<R | undefined> =>
    (await sql<R & Row>(text, [hashSecret(code), name]))[0]

/** Searches by the digest, so that the response time reveals nothing about existing codes. */
export const findByCode = byCode(FIND)
export const lockByCode = byCode(LOCK)

type KeyTimes = Pick<ApiKey, 'endsAt' | 'lastUsedAt'>

export function deviceSessionResponse(session: SessionRow, key: KeyTimes | null) {
  const { status, deviceId } = session as DeviceRow
  const endsAt = session.endedAt ?? key?.endsAt ?? session.endsAt
  return withMembers(session, { status, deviceId, endsAt, lastUsedAt: key?.lastUsedAt ?? null })
}

export async function deviceSessionResponses(sessions: readonly DeviceSession[], context: ReadContext) {
  const keys = await findApiKeys(
    sessions.flatMap(({ keyId }) => keyId ?? []),
    context,
  )
  const byId = new Map(keys.map(key => [key.id, key]))
  return sessions.map(session => deviceSessionResponse(session, byId.get(session.keyId ?? '') ?? null))
}
