import { createHash } from 'node:crypto'
import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { machine } from '../../kernel/contract/machine.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { selectList } from '../../kernel/database/bulk-sql.ts'
import { hashOf } from '../../kernel/database/credential.ts'
import { nullable, realTimestamps, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { clock, minutes } from '../../values/clock.ts'
import type { Personal } from '../../values/personal.ts'
import { PLATFORM_OWNER } from '../customers/index.ts'

export const pairingMachine = machine('pairing', {
  pending: ['approved', 'denied', 'void'],
  approved: ['paired', 'void'],
  denied: ['void'],
  paired: [],
  void: [],
})

/** Nobody knows yet for which account a terminal asks: until somebody decides, the row is the platform's. */
export const platform: Tenant = { ownerId: PLATFORM_OWNER, mode: 'live' }

/** How long a code lives, in real time. */
export const CODE_LASTS_MS = minutes(5)

/** What is left to the terminal at least to fetch its key, once somebody has approved. */
export const FETCH_LASTS_MS = minutes(1)

/** How many terminals of one client may wait at once. */
export const MOST_WAITING = 100

/** How often the terminal asks. */
export const INTERVAL_S = 2

const schema = defineEntity({
  ...tenantTable('CliPairing', 'cli_pairings'),
  properties: {
    ...record('pairing'),
    ...realTimestamps(),
    status: p.enum(pairingMachine.states).onCreate(() => pairingMachine.initial),
    /** Of the code. */
    hash: p.text(),
    /** What only the terminal knows the verifier of: SHA-256 in base64url (RFC 7636, S256). */
    codeChallenge: p.text(),
    /** What both screens show. */
    pairingCode: p.text(),
    deviceName: p.text(),
    /** Where the terminal asked from. */
    address: nullable.string(),
    /** The client behind that address. */
    client: p.text(),
    expiresAt: timestamp(),
    /** The person who has decided, and in which session of the console. */
    personId: nullable.string(),
    sessionId: nullable.string(),
    decidedAt: nullable.instant(),
    /** What the key may do; null = every scope, future ones included. */
    scopes: p
      .array()
      .columnType('text[]')
      .$type<Scope[] | null>()
      .strictNullable()
      .onCreate(() => null),
    /** Whether the terminal has asked for a key that changes things by the tools of an assistant. */
    toolWrites: p.boolean().onCreate(() => false),
    keyId: nullable.string(),
  },
})

/** A terminal that asks for a key, which a person approves in the console. Its instants are in real time. */
export class CliPairing extends schema.class {}
schema.setClass(CliPairing)

export const cliAuthPersonal = {
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
} as const satisfies Personal

export type PairingRow = RowOf<CliPairing>

export const pairingsTable = tableOf(CliPairing)

const FIND = `select ${selectList(pairingsTable, 's')} from cli_pairings s where s.hash = $1`
const LOCK = `${FIND} for update`

const byCode =
  (text: string) =>
  async (sql: Sql, code: string): Promise<PairingRow | undefined> =>
    (await sql<PairingRow & Row>(text, [hashOf(code)]))[0]

/** Finds a pairing by its code; the search goes by the digest, so the time it takes tells nothing about existing codes. */
const findByCode = byCode(FIND)
export const lockByCode = byCode(LOCK)

const isOf = ({ ownerId, mode }: Tenant, row: Tenant): boolean => row.ownerId === ownerId && row.mode === mode

/** Whether a person of the tenant may see it: one that nobody has decided about, or one of the tenant's own. */
export const isSeenBy = (tenant: Tenant, pairing: PairingRow): boolean =>
  isOf(platform, pairing) || isOf(tenant, pairing)

/** A pairing with the code of a page, as the person who looks may see it. */
export async function findPairing(
  code: string,
  { sql, tenant }: Pick<Context, 'sql' | 'tenant'>,
): Promise<PairingRow | undefined> {
  const pairing = await findByCode(sql, code)
  return pairing && isSeenBy(tenant, pairing) ? pairing : undefined
}

/** Why nobody can decide about a pairing any more; undefined while somebody can. */
export function whyClosed({
  status,
  expiresAt,
}: PairingRow): 'pairing_decided' | 'pairing_expired' | undefined {
  if (status !== 'pending') return 'pairing_decided'
  return expiresAt > clock.real() ? undefined : 'pairing_expired'
}

/** The challenge that belongs to a verifier: S256 of RFC 7636. */
export const codeChallengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')
