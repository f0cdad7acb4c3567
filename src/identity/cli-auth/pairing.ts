import { createHash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { SqlContext } from '../../kernel/contract/context.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { hashSecret } from '../../kernel/database/credential.ts'
import {
  nullable,
  realTimestampColumns,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { type RowOf, selectColumnList, tableOf } from '../../record-store/index.ts'
import { clock, minutes } from '../../values/clock.ts'
import type { PersonalData } from '../../values/personal.ts'
import { PLATFORM_OWNER_ID } from '../customers/index.ts'

export const pairingMachine = stateMachine('pairing', {
  pending: ['approved', 'denied', 'void'],
  approved: ['paired', 'void'],
  denied: ['void'],
  paired: [],
  void: [],
})

/** A terminal does not name an account, so its row belongs to the platform until a person decides. */
export const livePlatformTenant: Tenant = { ownerId: PLATFORM_OWNER_ID, mode: 'live' }

/** In real time. */
export const PAIRING_CODE_TTL_MS = minutes(5)

export const PAIRING_KEY_FETCH_TTL_MS = minutes(1)

export const MAX_WAITING_PAIRINGS = 100

export const PAIRING_POLL_INTERVAL_S = 2

const schema = defineEntity({
  ...tenantTable('CliPairing', 'cli_pairings'),
  properties: {
    ...recordColumns('pairing'),
    ...realTimestampColumns(),
    status: p.enum(pairingMachine.states).onCreate(() => pairingMachine.initial),
    hash: p.text(),
    /** SHA-256 of a verifier that only the terminal knows, in base64url (RFC 7636, S256). */
    codeChallenge: p.text(),
    pairingCode: p.text(),
    deviceName: p.text(),
    address: nullable.string(),
    client: p.text(),
    expiresAt: timestampColumn(),
    personId: nullable.string(),
    sessionId: nullable.string(),
    decidedAt: nullable.instant(),
    scopes: p
      .array()
      .columnType('text[]')
      .$type<Scope[] | null>()
      .strictNullable()
      .onCreate(() => null),
    toolWrites: p.boolean().onCreate(() => false),
    keyId: nullable.string(),
  },
})

/** A terminal that requests a key, which a person approves in the console. Its instants are in real time. */
export class CliPairing extends schema.class {}
schema.setClass(CliPairing)

export const cliAuthPersonalData = {
  cli_pairings: {
    personal: {
      address: { kind: 'network', ground: 'security', forget: 'word' },
      device_name: { kind: 'device', ground: 'security', forget: 'word' },
      client: { kind: 'device', ground: 'security', forget: 'word' },
    },
    plain: ['scopes', 'key_id'],
    secret: ['hash', 'code_challenge', 'pairing_code'],
    about: { person: ['person_id'] },
  },
} as const satisfies PersonalData

export type PairingRow = RowOf<CliPairing>

export const pairingsTable = tableOf(CliPairing)

const FIND = `select ${selectColumnList(pairingsTable, 's')} from cli_pairings s where s.hash = $1`
const LOCK = `${FIND} for update`

const byCode =
  (text: string) =>
  async (sql: Sql, code: string): Promise<PairingRow | undefined> =>
    (await sql<PairingRow & Row>(text, [hashSecret(code)]))[0]

/** Searches by the digest, so that the response time reveals nothing about existing codes. */
const findByCode = byCode(FIND)
export const lockPairingByCode = byCode(LOCK)

const isOf = ({ ownerId, mode }: Tenant, row: Tenant): boolean => row.ownerId === ownerId && row.mode === mode

/** Undecided pairings are visible to all; decided ones only to the tenant that decided. */
export const isPairingVisible = (tenant: Tenant, pairing: PairingRow): boolean =>
  isOf(livePlatformTenant, pairing) || isOf(tenant, pairing)

export async function findPairing(
  code: string,
  { sql, tenant }: SqlContext,
): Promise<PairingRow | undefined> {
  const pairing = await findByCode(sql, code)
  return pairing && isPairingVisible(tenant, pairing) ? pairing : undefined
}

export function pairingClosedReason({
  status,
  expiresAt,
}: PairingRow): 'pairing_decided' | 'pairing_expired' | undefined {
  if (status !== 'pending') return 'pairing_decided'
  return expiresAt > clock.real() ? undefined : 'pairing_expired'
}

export const codeChallengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')
