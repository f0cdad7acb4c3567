import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import type { PublicKeySet } from '../ports/public-keys.ts'
import {
  type Commitment,
  challengeOf,
  commitmentTo,
  type Openings,
  type Statement,
} from '../statements/index.ts'
import { SignatureRejected, verifySigned } from './verify-signed.ts'

/** The proof is invalid: no passkey has approved this. Trust nothing in it. */
export class ApprovalRejected extends SignatureRejected {}

/** A proof as returned by `GET /intents/{id}/approval`. */
export interface ApprovalProof {
  readonly jws: string
  /** The names behind the commitments, if they are disclosed and not erased. */
  readonly openings: Openings
}

/** The proven approval. A name is null if its opening was not disclosed. */
export interface ProvenApproval {
  readonly ownerId: string
  readonly mode: 'test' | 'live'
  readonly intentId: string
  readonly agentId: string
  /** Has two decimals, as signed by the device. */
  readonly amountEuros: string
  /** The most that may be charged: the amount with the policy's tolerance. */
  readonly largestEuros: string
  readonly currency: string
  readonly payee: {
    readonly name: string | null
    readonly iban: string | null
    readonly walletId: string | null
    readonly requestId: string | null
  }
  readonly person: { readonly id: string | null; readonly name: string | null }
  readonly approvedAt: string
}

/**
 * Proves that a person approved an intent with a passkey, and returns what the person approved. `keys` is a
 * stored copy of `/.well-known/jwks.json`; no network is used. Two signatures cover it: the service's, over
 * the whole proof, and that of the person's device, over amount, largest amount and payee.
 */
export function verifyApproval(proof: ApprovalProof, keys: PublicKeySet): ProvenApproval {
  try {
    const claims = verifySigned(proof.jws, keys, 'intent-approval') as unknown as Claims
    checkAssertion(claims)
    return approvalIn(claims, proof.openings)
  } catch (error) {
    if (error instanceof SignatureRejected) throw error
    throw new ApprovalRejected('The proof is not complete.', { cause: error })
  }
}

/** The subject of the statement, as the device has signed it. Names are commitments. */
interface Subject extends Omit<ProvenApproval, 'ownerId' | 'mode' | 'payee' | 'person' | 'approvedAt'> {
  readonly payee: Pick<ProvenApproval['payee'], 'walletId' | 'requestId'> & {
    readonly name: Commitment
    readonly iban: Commitment | null
  }
  readonly person: Commitment | null
}

interface Claims extends Pick<ProvenApproval, 'ownerId' | 'mode' | 'approvedAt'> {
  readonly statement: Statement
  readonly assertion: Readonly<Record<'authenticatorData' | 'clientDataJSON' | 'signature', string>>
  readonly publicKey: JsonWebKey
  readonly relyingParty: { readonly id: string; readonly origins: readonly string[] }
  readonly person: Readonly<Record<'id' | 'name', Commitment>>
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url')
const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

/** Verifies an assertion (WebAuthn, 7.2) over the statement that the device has shown. */
function checkAssertion({ statement, mode, assertion, publicKey, relyingParty }: Claims): void {
  if (statement.kind !== 'intent' || statement.mode !== mode)
    throw new ApprovalRejected('The passkey has signed something of another kind.')
  const [data, clientData] = [bytesOf(assertion.authenticatorData), bytesOf(assertion.clientDataJSON)]
  checkClientData(clientData, statement, relyingParty)
  checkAuthenticatorData(data, relyingParty.id)
  const signed = Buffer.concat([data, sha256(clientData)])
  const key = createPublicKey({ key: publicKey, format: 'jwk' })
  if (!verify(digestFor(publicKey), signed, key, bytesOf(assertion.signature)))
    throw new ApprovalRejected('The signature of the passkey does not match this statement.')
}

function checkClientData(
  clientData: Buffer,
  statement: Statement,
  { origins }: Claims['relyingParty'],
): void {
  const { type, challenge, origin, crossOrigin } = JSON.parse(clientData.toString('utf8'))
  if (type !== 'webauthn.get') throw new ApprovalRejected('The passkey has signed something of another kind.')
  if (challenge !== challengeOf(statement))
    throw new ApprovalRejected('The passkey has signed another statement.')
  if (!origins.includes(origin) || !origins.includes(statement.origin) || crossOrigin === true)
    throw new ApprovalRejected('The passkey has signed for another site.')
}

/** The hash of the relying party, a byte of flags, and a counter of four bytes. */
const LEAST_BYTES = 37
const FLAGS_AT = 32
/** The person was present, and the device verified the person by a finger, a face or a PIN. */
const PRESENT_AND_VERIFIED = 0b101

function checkAuthenticatorData(data: Buffer, relyingParty: string): void {
  if (data.length < LEAST_BYTES || !data.subarray(0, FLAGS_AT).equals(sha256(relyingParty)))
    throw new ApprovalRejected('The passkey has signed for another site.')
  if (((data[FLAGS_AT] ?? 0) & PRESENT_AND_VERIFIED) !== PRESENT_AND_VERIFIED)
    throw new ApprovalRejected('The device did not verify the person.')
}

/** ES256 and RS256 sign a SHA-256 digest; Ed25519 signs the text itself. */
function digestFor({ kty, crv }: JsonWebKey): 'sha256' | null {
  if (kty === 'OKP' && crv === 'Ed25519') return null
  if (kty === 'RSA' || (kty === 'EC' && crv === 'P-256')) return 'sha256'
  throw new ApprovalRejected('The passkey’s key is of no kind that is known.')
}

type Open = (commitment: Commitment | null, place: string) => string | null

/** Opens commitments. The name is null without a commitment, or without its opening. */
const opener =
  (openings: Openings): Open =>
  (commitment, place) => {
    const opening = Object.hasOwn(openings, place) ? openings[place] : undefined
    if (!opening) return null
    if (commitment?.sha256 !== commitmentTo(opening.value, opening.salt).sha256)
      throw new ApprovalRejected(`The opening ${place} is of something else.`)
    return opening.value
  }

function approvalIn(claims: Claims, openings: Openings): ProvenApproval {
  const { ownerId, mode, approvedAt, statement } = claims
  const subject = statement.subject as unknown as Subject
  const { intentId, agentId, amountEuros, largestEuros, currency, payee } = subject
  const open = opener(openings)
  const { walletId, requestId } = payee
  const [name, iban] = [open(payee.name, 'payee.name'), open(payee.iban, 'payee.iban')]
  return {
    ownerId,
    mode,
    intentId,
    agentId,
    amountEuros,
    largestEuros,
    currency,
    payee: { name, iban, walletId, requestId },
    person: personIn(claims, subject, open),
    approvedAt,
  }
}

/** The person whose passkey has signed must be the person of the statement. */
function personIn({ person }: Claims, subject: Subject, open: Open): ProvenApproval['person'] {
  const [id, name] = [open(person.id, 'person.id'), open(person.name, 'person.name')]
  const signer = open(subject.person, 'person')
  if (id !== null && signer !== null && id !== signer)
    throw new ApprovalRejected('The passkey is of another person.')
  return { id, name }
}
