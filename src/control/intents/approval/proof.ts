import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { SignedApproval } from '../../../identity/approvals/index.ts'
import type { TenantNow } from '../../../kernel/contract/actor.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { commitmentTo, type Openings } from '../../../statements/index.ts'
import { canonicalJson } from '../../../values/canonical-json.ts'

const PROOF_TYPE = 'intent-approval'
/** A type of its own: a verifier that expects one approval refuses several by the name. */
const PROOF_OF_SEVERAL_TYPE = 'intent-approvals'
/** Verifiers refuse more. */
const MAX_APPROVALS = 40

export interface SignedByDevice extends SignedApproval {
  readonly openings: Openings
  readonly person: { readonly id: string; readonly name: string }
}

/** One of several signatures. They were given at different times. */
export interface GivenApproval extends SignedByDevice {
  readonly approvedAt: Date
}

export interface Proof {
  readonly jws: string
  readonly openings: Openings
}

type SigningPorts = Pick<Ports, 'systems' | 'service'>

const opening = (value: string) => ({ value, salt: randomBytes(16).toString('base64url') })

function signerOf({ person }: SignedByDevice) {
  const [id, name] = [opening(person.id), opening(person.name)]
  return {
    person: { id: commitmentTo(id.value, id.salt), name: commitmentTo(name.value, name.salt) },
    openings: { 'person.id': id, 'person.name': name },
  }
}

function assertionOf({ credentialId, assertion }: SignedByDevice) {
  const { authenticatorData, clientDataJSON, signature } = assertion
  return { credentialId, authenticatorData, clientDataJSON, signature }
}

/**
 * Signs the device's signature together with all that is needed to verify it without this service. Person,
 * payee and account are commitments in it: erasing the openings erases the names, and the proof remains
 * valid.
 */
export function signProof(
  signed: SignedByDevice,
  { tenant, now }: TenantNow,
  { systems, service }: SigningPorts,
): Proof {
  const { person, openings } = signerOf(signed)
  const { id, origins } = service.relyingParty()
  const jws = systems.signer.sign(PROOF_TYPE, {
    ownerId: tenant.ownerId,
    mode: tenant.mode,
    statement: signed.statement,
    assertion: assertionOf(signed),
    publicKey: signed.publicKeyJwk,
    algorithm: signed.algorithm,
    relyingParty: { id, origins },
    person,
    approvedAt: now.toISOString(),
  })
  return { jws, openings: { ...signed.openings, ...openings } }
}

/**
 * Signs the approvals of several people as one proof. Their statements must agree in all but the person, and
 * have the same salts: the names of the payment have one opening, those of each person their own.
 */
export function signProofOfSeveral(
  approvals: readonly GivenApproval[],
  { tenant }: Pick<TenantNow, 'tenant'>,
  { systems, service }: SigningPorts,
): Proof {
  const shared = sharedOpenings(approvals)
  // Processes have different clocks, and a proof has its approvals in the order of their times.
  const inOrder = approvals.toSorted((a, b) => a.approvedAt.getTime() - b.approvedAt.getTime())
  const signers = inOrder.map(signerOf)
  const { id, origins } = service.relyingParty()
  const signed = inOrder.map((approval, index) => ({
    statement: approval.statement,
    assertion: assertionOf(approval),
    publicKey: approval.publicKeyJwk,
    algorithm: approval.algorithm,
    person: signers[index]?.person,
    approvedAt: approval.approvedAt.toISOString(),
  }))
  const jws = systems.signer.sign(PROOF_OF_SEVERAL_TYPE, {
    ownerId: tenant.ownerId,
    mode: tenant.mode,
    relyingParty: { id, origins },
    approvals: signed,
    approvedAt: signed.at(-1)?.approvedAt,
  })
  const own = inOrder.flatMap(({ openings: { person } }, index) =>
    Object.entries({ ...signers[index]?.openings, ...(person && { person }) }).map(
      ([place, one]) => [`approvals.${index}.${place}`, one] as const,
    ),
  )
  return { jws, openings: { ...shared, ...Object.fromEntries(own) } }
}

/** The openings of all but the persons. No verifier accepts statements that differ in more. */
function sharedOpenings(approvals: readonly GivenApproval[]): Openings {
  if (approvals.length < 2 || approvals.length > MAX_APPROVALS)
    throw new Error(`a proof of several has 2 to ${MAX_APPROVALS} approvals, not ${approvals.length}`)
  const [first = {}, ...others] = approvals.map(({ openings: { person: _, ...shared } }) => shared)
  const differs = others.some(one => !isDeepStrictEqual(one, first))
  const subjects = approvals.map(({ statement }) => canonicalJson({ ...statement.subject, person: null }))
  if (differs || new Set(subjects).size > 1)
    throw new Error('the statements of the approvals differ in more than the person')
  return first
}
