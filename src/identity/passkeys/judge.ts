import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { updateOf } from '../../kernel/database/bulk-sql.ts'
import { lockedRowsById } from '../../kernel/database/rows-by-id.ts'
import { agrees, type Kind, type Subjects } from '../../statements/index.ts'
import { clock } from '../../values/clock.ts'
import { type ChallengeRow, challengesTable } from './challenge.ts'
import { hasRisen, isUsable, noteFailure, noteUse, type PasskeyRow, passkeysTable } from './passkey.ts'
import type { Checked, Places, Verified } from './read-assertions.ts'
import { type AssertionCode, type assertionEvents, eventOf } from './schemas.ts'

/** What must have been signed, as things stand under the locks. */
export interface Expected<K extends Kind = Kind> {
  readonly kind: K
  readonly members: Subjects[K]
  /** The one person who can have signed it, such as the one of the console's session. */
  readonly personId?: string | null | undefined
}

/** Challenges and passkeys that are locked until the transaction ends, as `judge` leaves them. */
export interface LockedChallenges {
  readonly challenges: ReadonlyMap<string, ChallengeRow>
  readonly passkeys: ReadonlyMap<string, PasskeyRow>
  readonly burned: Set<ChallengeRow>
  readonly used: Set<PasskeyRow>
}

const lockedChallenges = lockedRowsById(challengesTable)
const lockedPasskeys = lockedRowsById(passkeysTable)

/** Locks challenges, then passkeys: both come last in the order of locks. */
export const lockChallenges = (
  sql: Sql,
  tenant: Tenant,
  checked: Iterable<Checked>,
): Promise<LockedChallenges> => lockChallengesAt(sql, { challenges: tenant, passkeys: tenant }, checked)

export async function lockChallengesAt(
  sql: Sql,
  places: Places,
  checked: Iterable<Checked>,
): Promise<LockedChallenges> {
  const all = [...checked]
  const passkeyIds = new Set(all.flatMap(({ passkeyId }) => passkeyId ?? []))
  const [challenges, passkeys] = await Promise.all([
    lockedChallenges(
      sql,
      places.challenges,
      all.map(({ challengeId }) => challengeId),
    ),
    lockedPasskeys(sql, places.passkeys, [...passkeyIds]),
  ])
  return { challenges, passkeys, burned: new Set(), used: new Set() }
}

/** The right without which nobody's passkey can decide such a thing. */
const neededScope: Readonly<Partial<Record<Kind, Scope>>> = {
  intent: 'intents:approve',
  payment: 'transfers:create',
  mandate: 'intents:approve',
  invitation: 'people:write',
  key: 'keys:write',
  deletion: 'gdpr:write',
}

/** Emits as the context of a request does, or the verdict of a batch. */
export interface Emitting {
  emit<N extends keyof typeof assertionEvents>(
    event: N,
    data: (typeof assertionEvents)[N]['_zod']['output'],
  ): void
}

/**
 * Decides whether an assertion counts for what is expected, and burns its challenge whatever comes of it: undefined where it
 * counts. Within a batch the second use of a challenge sees the first one.
 */
export function judge<K extends Kind>(
  checked: Checked | undefined,
  locked: LockedChallenges,
  expected: Expected<K>,
  emitting: Emitting,
): AssertionCode | undefined {
  if (!checked) return 'assertion_required'
  const code = burn(checked, locked, emitting)
  return code ?? disagreement(checked.verified as Verified, locked, expected)
}

/** All that does not depend on what is expected. What cannot be read burns nothing. */
export function burn(
  checked: Checked,
  locked: LockedChallenges,
  emitting: Emitting,
): AssertionCode | undefined {
  const challenge = locked.challenges.get(checked.challengeId)
  if (!challenge) return 'challenge_unknown'
  if (challenge.usedAt) return 'challenge_used'
  if (checked.code === 'assertion_malformed') return checked.code
  const now = clock.real()
  challenge.usedAt = now
  locked.burned.add(challenge)
  if (challenge.expiresAt <= now) return 'challenge_expired'
  const passkey = checked.passkeyId ? locked.passkeys.get(checked.passkeyId) : undefined
  if (!passkey || !isUsable(passkey)) return checked.code ?? 'assertion_invalid'
  if (checked.code === 'assertion_invalid') return failed(passkey, locked, emitting)
  if (!checked.verified) return checked.code
  if (!hasRisen(passkey, checked.verified.device)) return failed(passkey, locked, emitting)
  noteUse(passkey, checked.verified.device)
  locked.used.add(passkey)
  return undefined
}

function failed(passkey: PasskeyRow, { used }: LockedChallenges, { emit }: Emitting): AssertionCode {
  used.add(passkey)
  const { blockedUntil } = noteFailure(passkey) ? passkey : { blockedUntil: null }
  if (blockedUntil) emit('passkey.blocked', { ...eventOf(passkey), blockedUntil })
  return 'assertion_invalid'
}

function disagreement<K extends Kind>(
  { challengeId, kind, statement, openings, person }: Verified,
  { challenges }: LockedChallenges,
  expected: Expected<K>,
): AssertionCode | undefined {
  const bound = [challenges.get(challengeId)?.personId, expected.personId]
  if (bound.some(id => id && id !== person.id)) return 'assertion_invalid'
  if (!agrees(statement, openings, expected)) return 'statement_outdated'
  const scope = neededScope[kind]
  return scope && !person.scopes.has(scope) ? 'person_may_not' : undefined
}

const updateChallenges = updateOf(challengesTable, ['usedAt', 'updatedAt'])
const updatePasskeys = updateOf(passkeysTable, [
  'counter',
  'backedUp',
  'backupChangedAt',
  'lastUsedAt',
  'failures',
  'blockedUntil',
])

/** Writes what `judge` has decided. */
export const writeAssertions = (sql: Sql, tenant: Tenant, locked: LockedChallenges): Promise<unknown> =>
  writeAssertionsAt(sql, { challenges: tenant, passkeys: tenant }, locked)

export const writeAssertionsAt = (
  sql: Sql,
  places: Places,
  { burned, used }: LockedChallenges,
): Promise<unknown> =>
  Promise.all([
    updateChallenges(
      sql,
      places.challenges,
      [...burned].map(({ id, usedAt }) => ({ id, usedAt, updatedAt: usedAt as Date })),
    ),
    updatePasskeys(sql, places.passkeys, [...used]),
  ])
