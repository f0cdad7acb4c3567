import type { Actor, Tenant } from '../../kernel/contract/actor.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import type { Scope } from '../../kernel/contract/scopes.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { recordCodeAttempt } from '../../kernel/database/attempt-limit.ts'
import { lockedRowsById, updateOf } from '../../kernel/database/bulk-sql.ts'
import { agrees, type Kind, type Subjects } from '../../statements/index.ts'
import { clock } from '../../values/clock.ts'
import { type PasskeyChallengeRow, passkeyChallengesTable } from './challenge.ts'
import {
  blockPasskey,
  hasCounterIncreased,
  isPasskeyUsable,
  type PasskeyRow,
  passkeysTable,
  recordPasskeyUse,
} from './passkey.ts'
import type { ChallengeTenants, CheckedAssertion, VerifiedAssertion } from './read-assertions.ts'
import { type AssertionRefusalCode, type assertionEvents, passkeyEvent } from './schemas.ts'

export interface ExpectedStatement<K extends Kind = Kind> {
  readonly kind: K
  readonly members: Subjects[K]
  readonly personId?: string | null | undefined
}

export interface SentAssertion {
  readonly checked: CheckedAssertion
  readonly actor: Actor
  readonly address: string | null
}

/** Challenges and passkeys, locked until the transaction ends, in the state that `judge` leaves. */
export interface LockedPasskeyChallenges {
  readonly challenges: ReadonlyMap<string, PasskeyChallengeRow>
  readonly passkeys: ReadonlyMap<string, PasskeyRow>
  readonly burned: Set<PasskeyChallengeRow>
  readonly used: Set<PasskeyRow>
  /** Refusals of senders above the limit of wrong signatures. They burn nothing. */
  readonly stopped: ReadonlyMap<CheckedAssertion, Problem>
}

const lockedChallenges = lockedRowsById(passkeyChallengesTable)
const lockedPasskeys = lockedRowsById(passkeysTable)

/** Locks challenges, then passkeys, then the counters of wrong signatures, which are last in the lock order. */
export const lockPasskeyChallenges = (
  sql: Sql,
  tenant: Tenant,
  sent: readonly SentAssertion[],
): Promise<LockedPasskeyChallenges> =>
  lockPasskeyChallengesAt(sql, { challenges: tenant, passkeys: tenant }, sent)

export async function lockPasskeyChallengesAt(
  sql: Sql,
  places: ChallengeTenants,
  sent: readonly SentAssertion[],
): Promise<LockedPasskeyChallenges> {
  const all = sent.map(({ checked }) => checked)
  const passkeyIds = new Set(all.flatMap(({ passkeyId }) => passkeyId ?? []))
  const [challenges, passkeys] = await Promise.all([
    lockedChallenges(
      sql,
      places.challenges,
      all.map(({ challengeId }) => challengeId),
    ),
    lockedPasskeys(sql, places.passkeys, [...passkeyIds]),
  ])
  const isOpen = (id: string) => challenges.get(id)?.usedAt === null
  const wrong = sent.filter(
    ({ checked: { code, challengeId } }) => code === 'assertion_invalid' && isOpen(challengeId),
  )
  return { challenges, passkeys, burned: new Set(), used: new Set(), stopped: await countWrong(sql, wrong) }
}

const TOO_MANY =
  'Ten invalid signatures came from you or your address within ten minutes. Wait and try again; a valid signature over a new challenge is accepted at once.'

/**
 * Counts wrong signatures by sender and address, never by passkey: anyone can learn a credential id and would
 * block the passkey of its owner. A valid signature is not counted and costs no statement, so a guesser
 * blocks only itself.
 */
async function countWrong(
  sql: Sql,
  wrong: readonly SentAssertion[],
): Promise<ReadonlyMap<CheckedAssertion, Problem>> {
  const stopped = new Map<CheckedAssertion, Problem>()
  const takenBack: Promise<unknown>[] = []
  const queueStatement = (statement: Promise<unknown>) => void takenBack.push(statement)
  for (const { checked, actor, address } of wrong) {
    const { waitSeconds } = await recordCodeAttempt('passkey', { sql, actor, address, queueStatement })
    if (waitSeconds === 0) continue
    stopped.set(checked, new Problem('rate_limited', TOO_MANY, { 'Retry-After': String(waitSeconds) }))
  }
  await Promise.all(takenBack)
  return stopped
}

/** The scope that a person needs so that their passkey can decide this. */
const neededScope: Readonly<Partial<Record<Kind, Scope>>> = {
  intent: 'intents:approve',
  payment: 'transfers:create',
  mandate: 'intents:approve',
  invitation: 'people:write',
  key: 'keys:write',
  deletion: 'gdpr:write',
}

export interface AssertionEmitter {
  emit<N extends keyof typeof assertionEvents>(
    event: N,
    data: (typeof assertionEvents)[N]['_zod']['output'],
  ): void
}

/**
 * Decides whether an assertion matches what is expected, and burns its challenge in any case; undefined if it
 * matches. Within a batch, the second use of a challenge sees the first one.
 */
export function decideAssertion<K extends Kind>(
  checked: CheckedAssertion | undefined,
  locked: LockedPasskeyChallenges,
  expected: ExpectedStatement<K>,
  emitting: AssertionEmitter,
): AssertionRefusalCode | undefined {
  if (!checked) return 'assertion_required'
  const code = consumeChallenge(checked, locked, emitting)
  return code ?? disagreement(checked.verified as VerifiedAssertion, locked, expected)
}

export function consumeChallenge(
  checked: CheckedAssertion,
  locked: LockedPasskeyChallenges,
  emitting: AssertionEmitter,
): AssertionRefusalCode | undefined {
  const challenge = locked.challenges.get(checked.challengeId)
  if (!challenge) return 'challenge_unknown'
  if (challenge.usedAt) return 'challenge_used'
  if (checked.code === 'assertion_malformed') return checked.code
  const now = clock.real()
  challenge.usedAt = now
  locked.burned.add(challenge)
  if (challenge.expiresAt <= now) return 'challenge_expired'
  const passkey = checked.passkeyId ? locked.passkeys.get(checked.passkeyId) : undefined
  if (!passkey || !isPasskeyUsable(passkey)) return checked.code ?? 'assertion_invalid'
  if (!checked.verified) return checked.code
  locked.used.add(passkey)
  if (hasCounterIncreased(passkey, checked.verified.device)) {
    recordPasskeyUse(passkey, checked.verified.device)
    return undefined
  }
  emitting.emit('passkey.blocked', { ...passkeyEvent(passkey), blockedUntil: blockPasskey(passkey) })
  return 'assertion_invalid'
}

function disagreement<K extends Kind>(
  { challengeId, kind, statement, openings, person }: VerifiedAssertion,
  { challenges }: LockedPasskeyChallenges,
  expected: ExpectedStatement<K>,
): AssertionRefusalCode | undefined {
  const bound = [challenges.get(challengeId)?.personId, expected.personId]
  if (bound.some(id => id && id !== person.id)) return 'assertion_invalid'
  if (!agrees(statement, openings, expected)) return 'statement_outdated'
  const scope = neededScope[kind]
  return scope && !person.scopes.has(scope) ? 'insufficient_role' : undefined
}

const updateChallenges = updateOf(passkeyChallengesTable, ['usedAt', 'updatedAt'])
const updatePasskeys = updateOf(passkeysTable, [
  'counter',
  'backedUp',
  'backupChangedAt',
  'lastUsedAt',
  'blockedUntil',
])

export const writeAssertionUse = (
  sql: Sql,
  tenant: Tenant,
  locked: LockedPasskeyChallenges,
): Promise<unknown> => writeAssertionUseAt(sql, { challenges: tenant, passkeys: tenant }, locked)

export const writeAssertionUseAt = (
  sql: Sql,
  places: ChallengeTenants,
  { burned, used }: LockedPasskeyChallenges,
): Promise<unknown> =>
  Promise.all([
    updateChallenges(
      sql,
      places.challenges,
      [...burned].map(({ id, usedAt }) => ({ id, usedAt, updatedAt: usedAt as Date })),
    ),
    updatePasskeys(sql, places.passkeys, [...used]),
  ])
