import { createPrivateKey } from 'node:crypto'
import {
  type GivenApproval,
  type SignedByDevice,
  signProof,
  signProofOfSeveral,
} from '../../../src/control/intents/approval/proof.ts'
import type { ApprovalProof } from '../../../src/derive/client.ts'
import type { Ports } from '../../../src/kernel/contract/ports.ts'
import { newSigningKeyPair, publicKeyFromX, signJws } from '../../../src/ports/signer.ts'
import { challengeOf, newStatement, type Subjects } from '../../../src/statements/index.ts'
import { Authenticator, type AuthenticatorAlgorithm } from '../identity/authenticator.ts'

const pair = newSigningKeyPair()
const ours = publicKeyFromX(pair.x)
export const keySet = { keys: [ours] }

const signAs = (type: string, claims: object): string =>
  signJws(createPrivateKey(pair.privateKey), ours.kid, type, claims)

const ORIGIN = 'https://pay.example'
const site = { id: 'pay.example', origins: [ORIGIN] }

/** What signing takes of the service: a key, and the site of the passkeys. */
const ports = {
  systems: { signer: { sign: (type: string, claims: object) => signAs(type, claims) } },
  service: { relyingParty: () => site },
} as unknown as Pick<Ports, 'systems' | 'service'>

const tenant = { ownerId: 'customer_1', mode: 'live' } as const

export const payment = {
  intentId: 'intent_1',
  agentId: 'agent_1',
  amountEuros: '25.00',
  largestEuros: '26.25',
  currency: 'EUR',
  payee: { name: 'Bookshop', iban: 'DE89370400440532013000', walletId: null, requestId: null },
  agentName: 'Scout',
  purpose: 'A paper on caching',
} satisfies Omit<Subjects['intent'], 'person'>

export interface Approver {
  readonly id: string
  readonly name: string
  readonly device: Authenticator
}

const approver = (id: string, name: string, algorithm: AuthenticatorAlgorithm): Approver => ({
  id,
  name,
  device: new Authenticator({ algorithm, origin: ORIGIN }),
})

export const approvers = [
  approver('person_1', 'Ada Lovelace', 'ES256'),
  approver('person_2', 'Grace Hopper', 'Ed25519'),
  approver('person_3', 'Alan Turing', 'RS256'),
] as const

interface Given {
  readonly subject?: Partial<Subjects['intent']>
  readonly mode?: 'test' | 'live'
  /** The salts of payee, account, agent and purpose, which the statements of all share. */
  readonly salts?: string
}

let nonces = 0
const text = (start: string, length: number) => start.padEnd(length, '0')

/** The approval of one person, so many minutes after 9:00. */
export function approvalBy(
  { id, name, device }: Approver,
  minute: number,
  { subject, mode = 'live', salts = 'shared' }: Given = {},
): GivenApproval {
  const nonce = text(`nonce${nonces++}-`, 43)
  let salt = 0
  const { statement, openings } = newStatement(
    'intent',
    { ...payment, person: id, ...subject },
    {
      origin: ORIGIN,
      mode,
      nonce,
      expiresAt: `2026-11-21T09:${String(minute + 5).padStart(2, '0')}:00.000Z`,
      salt: () => text(`${salt < 4 ? salts : nonce.slice(0, 12)}${salt++}`, 22),
    },
  )
  const { response } = device.assert({ challenge: challengeOf(statement), rpId: site.id })
  return {
    statement,
    openings,
    credentialId: device.credentialId,
    publicKeyJwk: device.publicKeyJwk,
    algorithm: 'ES256',
    assertion: response,
    person: { id, name },
    approvedAt: new Date(`2026-11-21T09:${String(minute).padStart(2, '0')}:00.000Z`),
  }
}

export const proofOfOne = (signed: SignedByDevice, now: Date): ApprovalProof =>
  signProof(signed, { tenant, now }, ports)

export const proofOfSeveral = (approvals: readonly GivenApproval[]): ApprovalProof =>
  signProofOfSeveral(approvals, { tenant }, ports)

interface SignedApproval {
  readonly statement: object
  readonly assertion: Readonly<Record<string, string>>
  readonly publicKey: object
  readonly person: object
  readonly approvedAt: unknown
}

export interface ClaimsOfSeveral {
  readonly approvals: readonly SignedApproval[]
  readonly [member: string]: unknown
}

export const claimsIn = ({ jws }: ApprovalProof): ClaimsOfSeveral =>
  JSON.parse(Buffer.from(String(jws.split('.')[1]), 'base64url').toString())

type Change = (approvals: readonly SignedApproval[]) => readonly unknown[]

/** The proof with other approvals, signed by the service's own key, as a compromised installation would. */
export const resigned = (proof: ApprovalProof, change: Change): ApprovalProof => {
  const claims = claimsIn(proof)
  return signedAs('intent-approvals', { ...claims, approvals: change(claims.approvals) }, proof.openings)
}

export const signedAs = (
  type: string,
  claims: object,
  openings: ApprovalProof['openings'] = {},
): ApprovalProof => ({ jws: signAs(type, claims), openings })
