import { defineEntity, p } from '@mikro-orm/core'
import { nullable, recordColumns, tenantTable, textArrayColumn } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { type RowOf, tableOf } from '../../kernel/database/table.ts'
import { addMs, clock, minutes } from '../../values/clock.ts'

export const passkeyAlgorithms = ['Ed25519', 'ES256', 'RS256'] as const
export type PasskeyAlgorithm = (typeof passkeyAlgorithms)[number]

export const MAX_PASSKEYS = 20

/** A passkey is blocked for this time after its counter did not increase. */
const BLOCKED_FOR_MS = minutes(15)

export interface PasskeyPublicJwk {
  readonly kty: string
  readonly crv?: string
  readonly x?: string
  readonly y?: string
  readonly n?: string
  readonly e?: string
}

const schema = defineEntity({
  ...tenantTable('Passkey', 'passkeys'),
  ...personalTable({ about: { person: ['person_id'] } }),
  properties: {
    ...recordColumns('passkey'),
    personId: p.text(),
    name: personal(p.text(), 'device', 'security', 'word'),
    credentialId: personal(p.text(), 'device', 'payments', 'pseudonym'),
    publicKey: personal(p.text(), 'device', 'payments', 'word'),
    publicKeyJwk: personal(p.json<PasskeyPublicJwk>(), 'device', 'payments', 'empty'),
    algorithm: plain(p.enum(passkeyAlgorithms)),
    /** The device's signature counter; zero if the device has no counter. */
    counter: p.bigint(),
    /** Whether the passkey may be synced to several devices of its person. */
    backupEligible: p.boolean(),
    backedUp: p.boolean(),
    backupChangedAt: nullable.instant(),
    transports: plain(textArrayColumn()),
    aaguid: personal(p.text(), 'device', 'security', { value: '00000000-0000-0000-0000-000000000000' }),
    enrolledBy: plain(p.enum(['key', 'console'] as const)),
    lastUsedAt: nullable.instant(),
    blockedUntil: nullable.instant(),
    revokedAt: nullable.instant(),
  },
})

/** A credential on a person's device, with its public key. Use, block and revocation are in real time. */
export class Passkey extends schema.class {}
schema.setClass(Passkey)

export type PasskeyRow = RowOf<Passkey>
export const passkeysTable = tableOf(Passkey)

type Standing = Pick<PasskeyRow, 'revokedAt' | 'blockedUntil'>

export const isPasskeyUsable = ({ revokedAt, blockedUntil }: Standing): boolean =>
  !revokedAt && !(blockedUntil && blockedUntil > clock.real())

/** Blocks a passkey that may have been cloned, and returns the end of the block. */
export function blockPasskey(row: Pick<PasskeyRow, 'blockedUntil'>): Date {
  row.blockedUntil = addMs(clock.real(), BLOCKED_FOR_MS)
  return row.blockedUntil
}

export interface AuthenticatorState {
  readonly counter: number
  readonly backedUp: boolean
}

/** Synced passkeys have no counter: both numbers are zero. */
export const hasCounterIncreased = (
  row: Pick<PasskeyRow, 'counter'>,
  { counter }: AuthenticatorState,
): boolean => (counter === 0 && row.counter === 0n) || BigInt(counter) > row.counter

export function recordPasskeyUse(row: PasskeyRow, { counter, backedUp }: AuthenticatorState): void {
  const now = clock.real()
  if (row.backedUp !== backedUp) row.backupChangedAt = now
  Object.assign(row, { counter: BigInt(counter), backedUp, lastUsedAt: now })
}
