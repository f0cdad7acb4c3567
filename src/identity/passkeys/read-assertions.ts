import type { Tenant } from '../../kernel/contract/actor.ts'
import type { RunningService } from '../../kernel/contract/ports.ts'
import { type PersonRole, roleScopes, type Scope } from '../../kernel/contract/scopes.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { rowsById, selectColumnList } from '../../kernel/database/bulk-sql.ts'
import type { Kind, Openings, Statement } from '../../statements/index.ts'
import { challengeOf } from '../../statements/index.ts'
import { type PasskeyChallengeRow, passkeyChallengesTable } from './challenge.ts'
import {
  type AuthenticatorState,
  isPasskeyUsable,
  type PasskeyAlgorithm,
  type PasskeyPublicJwk,
  type PasskeyRow,
  passkeysTable,
} from './passkey.ts'
import type { AssertionRefusalCode, WebauthnAssertion } from './schemas.ts'
import { checkAssertion } from './webauthn.ts'

export interface PasskeyHolder {
  readonly id: string
  readonly name: string
  readonly role: PersonRole
  readonly scopes: ReadonlySet<Scope>
}

export interface VerifiedAssertion {
  readonly challengeId: string
  readonly kind: Kind
  readonly statement: Statement
  readonly openings: Openings
  /** When the challenge was created, in the tenant's time. The signature is later. */
  readonly attestedAt: Date
  readonly passkeyId: string
  readonly credentialId: string
  readonly publicKeyJwk: PasskeyPublicJwk
  readonly algorithm: PasskeyAlgorithm
  readonly person: PasskeyHolder
  readonly assertion: {
    readonly authenticatorData: string
    readonly clientDataJSON: string
    readonly signature: string
  }
  readonly device: AuthenticatorState
}

export interface CheckedAssertion {
  readonly challengeId: string
  readonly passkeyId: string | null
  readonly code: AssertionRefusalCode | undefined
  readonly verified: VerifiedAssertion | undefined
}

const challengesById = rowsById(passkeyChallengesTable)

interface HeldPasskey extends PasskeyRow {
  readonly holderName: string
  readonly role: PersonRole
  readonly status: string
}

const PASSKEYS = `
select ${selectColumnList(passkeysTable, 'one')}, holder.name as "holderName", holder.role, holder.status
from passkeys one
join people holder on (holder.owner_id, holder.mode, holder.id) = (one.owner_id, one.mode, one.person_id)
where one.owner_id = $1 and one.mode = $2 and one.credential_id = any($3::text[])`

export const credentialIdOf = ({ assertion }: WebauthnAssertion): string => assertion.id.replace(/=+$/, '')

async function passkeysOf(
  sql: Sql,
  { ownerId, mode }: Tenant,
  envelopes: readonly WebauthnAssertion[],
): Promise<ReadonlyMap<string, HeldPasskey>> {
  const rows = await sql<HeldPasskey & Row>(PASSKEYS, [ownerId, mode, envelopes.map(credentialIdOf)])
  return new Map(rows.map(row => [row.credentialId, row]))
}

/** Challenges for sign-in belong to the platform, so a challenge and its passkey may have different tenants. */
export interface ChallengeTenants {
  readonly challenges: Tenant
  readonly passkeys: Tenant
}

/**
 * Checks assertions before any row is locked, with two statements and one signature check each. Each envelope
 * has its own result, so that one that names another's challenge does not pass by the other's signature.
 */
export const readAssertions = (
  sql: Sql,
  tenant: Tenant,
  envelopes: readonly WebauthnAssertion[],
  service: Pick<RunningService, 'relyingParty'>,
): Promise<ReadonlyMap<WebauthnAssertion, CheckedAssertion>> =>
  readAssertionsAt(sql, { challenges: tenant, passkeys: tenant }, envelopes, service)

export async function readAssertionsAt(
  sql: Sql,
  places: ChallengeTenants,
  envelopes: readonly WebauthnAssertion[],
  service: Pick<RunningService, 'relyingParty'>,
): Promise<ReadonlyMap<WebauthnAssertion, CheckedAssertion>> {
  if (envelopes.length === 0) return new Map()
  const ids = envelopes.map(({ challengeId }) => challengeId)
  const [challenges, passkeys] = await Promise.all([
    challengesById(sql, places.challenges, ids),
    passkeysOf(sql, places.passkeys, envelopes),
  ])
  const checking = envelopes.map(async envelope => {
    const [challenge, passkey] = [
      challenges.get(envelope.challengeId),
      passkeys.get(credentialIdOf(envelope)),
    ]
    return [envelope, await check(envelope, challenge, passkey, service)] as const
  })
  return new Map(await Promise.all(checking))
}

async function check(
  envelope: WebauthnAssertion,
  challenge: PasskeyChallengeRow | undefined,
  passkey: HeldPasskey | undefined,
  service: Pick<RunningService, 'relyingParty'>,
): Promise<CheckedAssertion> {
  const { challengeId } = envelope
  const refused = (code: AssertionRefusalCode): CheckedAssertion => ({
    challengeId,
    passkeyId: passkey?.id ?? null,
    code,
    verified: undefined,
  })
  if (!challenge) return refused('challenge_unknown')
  if (challenge.usedAt) return refused('challenge_used')
  const isOpen = passkey !== undefined && passkey.status === 'active' && isPasskeyUsable(passkey)
  const signed = await checkAssertion(envelope, isOpen ? passkey : undefined, service.relyingParty())
  if (signed.is === 'malformed') return refused('assertion_malformed')
  if (signed.is === 'invalid' || !isOpen) return refused('assertion_invalid')
  if (signed.challenge !== challengeOf(challenge.statement)) return refused('statement_outdated')
  const { id: passkeyId } = passkey
  return {
    challengeId,
    passkeyId,
    code: undefined,
    verified: verifiedOf(envelope, challenge, passkey, signed.device),
  }
}

function verifiedOf(
  { assertion: { response } }: WebauthnAssertion,
  { id: challengeId, kind, statement, openings, madeAt }: PasskeyChallengeRow,
  passkey: HeldPasskey,
  device: AuthenticatorState,
): VerifiedAssertion {
  const { id: passkeyId, credentialId, publicKeyJwk, algorithm, personId, holderName, role } = passkey
  const { authenticatorData, clientDataJSON, signature } = response
  return {
    challengeId,
    kind,
    statement,
    openings,
    attestedAt: madeAt,
    passkeyId,
    credentialId,
    publicKeyJwk,
    algorithm,
    person: { id: personId, name: holderName, role, scopes: roleScopes[role] },
    assertion: { authenticatorData, clientDataJSON, signature },
    device,
  }
}
