import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto'
import type { PublicKeySet, SignedClaims } from '../ports/public-keys.ts'
import {
  type Commitment,
  challengeOf,
  commitmentTo,
  type Openings,
  type Statement,
} from '../statements/index.ts'
import { canonicalJson } from '../values/canonical-json.ts'
import { SignatureRejected, verifySignedAsOneOf } from './verify-signed.ts'

const PROOF = 'intent-approval'
const PROOF_OF_SEVERAL = 'intent-approvals'
/** No policy asks for more approvals, and it bounds the work. */
const MAX_APPROVALS = 40

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
  /** The person who approved last, or alone. */
  readonly person: GivenApproval['person']
  /** The time of the last approval. */
  readonly approvedAt: string
  /** Every approval, in the order in which they were given; one or more. */
  readonly approvals: readonly GivenApproval[]
}

interface GivenApproval {
  readonly person: { readonly id: string | null; readonly name: string | null }
  readonly approvedAt: string
}

/**
 * Proves that a person, or each of several, approved an intent with a passkey, and returns what they
 * approved. `keys` is a stored copy of `/.well-known/jwks.json`; no network is used. Two kinds of signature
 * cover it: the service's, over the whole proof, and that of each person's device, over amount, largest
 * amount and payee.
 */
export function verifyApproval(proof: ApprovalProof, keys: PublicKeySet): ProvenApproval {
  try {
    const { type, claims } = verifySignedAsOneOf(proof.jws, keys, [PROOF, PROOF_OF_SEVERAL])
    const approvals =
      type === PROOF ? [{ ...(claims as unknown as Approval), place: '' }] : approvalsIn(claims)
    approvals.forEach(checkAssertion)
    if (type === PROOF_OF_SEVERAL) checkTogether(approvals, claims)
    return provenIn(claims, approvals, proof.openings)
  } catch (error) {
    if (error instanceof SignatureRejected) throw error
    throw new ApprovalRejected('The proof is not complete.', { cause: error })
  }
}

/** The subject of the statement, as the device has signed it. Names are commitments. */
interface Subject
  extends Pick<ProvenApproval, 'intentId' | 'agentId' | 'amountEuros' | 'largestEuros' | 'currency'> {
  readonly payee: Pick<ProvenApproval['payee'], 'walletId' | 'requestId'> & {
    readonly name: Commitment
    readonly iban: Commitment | null
  }
  readonly person: Commitment | null
}

/** One person's approval, with what all approvals of the proof share. */
interface Approval {
  readonly mode: ProvenApproval['mode']
  readonly relyingParty: { readonly id: string; readonly origins: readonly string[] }
  readonly statement: Statement
  readonly assertion: Readonly<
    Record<'credentialId' | 'authenticatorData' | 'clientDataJSON' | 'signature', string>
  >
  readonly publicKey: JsonWebKey
  readonly person: Readonly<Record<'id' | 'name', Commitment>>
  readonly approvedAt: string
  /** What the places of its own openings begin with. */
  readonly place: string
}

/** The approvals of a proof of several, each complete by itself. */
function approvalsIn({ mode, relyingParty, approvals }: SignedClaims): readonly Approval[] {
  const list = approvals as readonly Approval[]
  if (!Array.isArray(list) || list.length < 2 || list.length > MAX_APPROVALS)
    throw new ApprovalRejected(`A proof of several approvals has 2 to ${MAX_APPROVALS} of them.`)
  return list.map((one, index) => ({ ...one, mode, relyingParty, place: `approvals.${index}.` }) as Approval)
}

/** Several approvals count only if different passkeys have signed the same, and in this order. */
function checkTogether(approvals: readonly Approval[], { approvedAt }: SignedClaims): void {
  const subjects = approvals.map(({ statement }) => canonicalJson({ ...statement.subject, person: null }))
  if (new Set(subjects).size > 1) throw new ApprovalRejected('The passkeys have signed different payments.')
  const credentialIds = approvals.map(({ assertion }) => assertion.credentialId)
  if (!areDistinct(approvals.map(keyOf)) || !areDistinct(credentialIds))
    throw new ApprovalRejected('One passkey has signed two of the approvals.')
  const times = [...approvals.map(one => one.approvedAt), approvedAt]
  if (!times.every((time, n) => isInstant(time) && (n === 0 || String(times[n - 1]) <= time)))
    throw new ApprovalRejected('The approvals are not in the order of their times.')
}

const areDistinct = (values: readonly string[]): boolean =>
  values.every(value => typeof value === 'string') && new Set(values).size === values.length

/** The key itself: JSON writes one key in many ways. */
const keyOf = ({ publicKey }: Approval): string =>
  createPublicKey({ key: publicKey, format: 'jwk' })
    .export({ type: 'spki', format: 'der' })
    .toString('base64')

/** All instants have this form, in which the order of texts is that of times. */
const INSTANT = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$/

const isInstant = (value: unknown): value is string => typeof value === 'string' && INSTANT.test(value)

const bytesOf = (text: string): Buffer => Buffer.from(text, 'base64url')
const sha256 = (data: string | Buffer): Buffer => createHash('sha256').update(data).digest()

/** Verifies an assertion (WebAuthn, 7.2) over the statement that the device has shown. */
function checkAssertion({ statement, mode, assertion, publicKey, relyingParty }: Approval): void {
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
  { origins }: Approval['relyingParty'],
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

function provenIn(
  { ownerId, mode }: SignedClaims,
  approvals: readonly Approval[],
  openings: Openings,
): ProvenApproval {
  const last = approvals[approvals.length - 1] as Approval
  const { intentId, agentId, amountEuros, largestEuros, currency, payee } = subjectOf(last)
  const open = opener(openings)
  const { walletId, requestId } = payee
  const [name, iban] = [open(payee.name, 'payee.name'), open(payee.iban, 'payee.iban')]
  const given = givenIn(approvals, open)
  return {
    ownerId,
    mode,
    intentId,
    agentId,
    amountEuros,
    largestEuros,
    currency,
    payee: { name, iban, walletId, requestId },
    ...(given[given.length - 1] as GivenApproval),
    approvals: given,
  }
}

const subjectOf = ({ statement }: Approval): Subject => statement.subject as unknown as Subject

/** A person whose passkey has signed must be the person of the statement, and approves once. */
function givenIn(approvals: readonly Approval[], open: Open): readonly GivenApproval[] {
  const opened = approvals.map(approval => {
    const { person, place, approvedAt } = approval
    const [id, name] = [open(person.id, `${place}person.id`), open(person.name, `${place}person.name`)]
    const signer = open(subjectOf(approval).person, `${place}person`)
    if (id !== null && signer !== null && id !== signer)
      throw new ApprovalRejected('The passkey is of another person.')
    return { given: { person: { id, name }, approvedAt }, known: id ?? signer }
  })
  if (!areDistinct(opened.flatMap(({ known }) => known ?? [])))
    throw new ApprovalRejected('One person has given two of the approvals.')
  return opened.map(({ given }) => given)
}
