import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { machine } from '../../kernel/contract/machine.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import { nullable, realTimestamps, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import { minutes } from '../../values/clock.ts'
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
