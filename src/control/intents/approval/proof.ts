import { randomBytes } from 'node:crypto'
import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { commitmentTo, type Openings, type Statement } from '../../../statements/index.ts'
import { newId } from '../../../values/ids.ts'
import { type ApprovalRow, keptUntil, type OpeningsRow } from './approval.ts'

/** The kind of statement that a proof is: `typ` of its JWS. */
const PROOF_TYPE = 'intent-approval'

/** What a device has signed, verified. */
interface SignedByDevice {
  readonly statement: Statement
  readonly openings: Openings
  readonly credentialId: string
  /** The public key, as it was enrolled. */
  readonly publicKeyJwk: object
  readonly algorithm: string
  readonly assertion: {
    readonly authenticatorData: string
    readonly clientDataJSON: string
    readonly signature: string
  }
  readonly person: { readonly id: string; readonly name: string }
}

export interface Proof {
  readonly jws: string
  readonly openings: Openings
}

const opening = (value: string) => ({ value, salt: randomBytes(16).toString('base64url') })

/**
 * Signs what the device has signed, with all that is needed to check it without us. The person stands in it as a
 * commitment, as payee and account do: who forgets the openings forgets the names, and the proof stands.
 */
export async function signProof(
  { statement, openings, credentialId, publicKeyJwk, algorithm, assertion, person }: SignedByDevice,
  { tenant, now }: TenantNow,
  { signer, relyingParty }: Pick<Ports, 'signer' | 'relyingParty'>,
): Promise<Proof> {
  const [personId, personName] = [opening(person.id), opening(person.name)]
  const { authenticatorData, clientDataJSON, signature } = assertion
  const { id, origins } = relyingParty()
  const jws = await signer.sign(PROOF_TYPE, {
    ownerId: tenant.ownerId,
    mode: tenant.mode,
    statement,
    assertion: { credentialId, authenticatorData, clientDataJSON, signature },
    publicKey: publicKeyJwk,
    algorithm,
    relyingParty: { id, origins },
    person: {
      id: commitmentTo(personId.value, personId.salt),
      name: commitmentTo(personName.value, personName.salt),
    },
    approvedAt: now.toISOString(),
  })
  return { jws, openings: { ...openings, 'person.id': personId, 'person.name': personName } }
}

/** The rows of a proof: what is kept for good, and apart from it what can be forgotten. */
export function proofRows(
  intentId: string,
  { jws, openings }: Proof,
  { tenant, now }: TenantNow,
): readonly [ApprovalRow, OpeningsRow] {
  const { ownerId, mode } = tenant
  const head = { id: newId('approval'), ownerId, mode, createdAt: now, updatedAt: now }
  return [
    { ...head, intentId, jws, keptUntil: keptUntil(now) },
    { ...head, openings },
  ]
}
