import { createHash, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  type ApprovalProof,
  ApprovalRejected,
  SignatureRejected,
  verifyApproval,
} from '../../src/derive/client.ts'
import { newSigningKeyPair, publicKeyFromX, signJws } from '../../src/ports/signer.ts'
import { challengeOf, commitmentTo, newStatement, type Statement } from '../../src/statements/index.ts'
import './verify-approval/several.ts'

const pair = newSigningKeyPair()
const ours = publicKeyFromX(pair.x)
const keys = { keys: [ours] }
const privateKey = createPrivateKey(pair.privateKey)

const devices = {
  ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  Ed25519: generateKeyPairSync('ed25519'),
  RS256: generateKeyPairSync('rsa', { modulusLength: 2_048 }),
}
type Device = { readonly publicKey: KeyObject; readonly privateKey: KeyObject }

const site = { id: 'pay.example', origins: ['https://pay.example'] }
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()
const encoded = (data: string | Buffer) => Buffer.from(data).toString('base64url')

let salts = 0
const salt = () => String(salts++).padStart(22, '0')

const subject = {
  intentId: 'intent_1',
  agentId: 'agent_1',
  amountEuros: '25.00',
  largestEuros: '26.25',
  currency: 'EUR',
  payee: { name: 'Bookshop', iban: 'DE89370400440532013000', walletId: null, requestId: null },
  agentName: 'Scout',
  purpose: 'A paper on caching',
  person: 'person_1',
}

const { statement, openings: ofStatement } = newStatement('intent', subject, {
  origin: 'https://pay.example',
  mode: 'live',
  nonce: 'n'.repeat(43),
  expiresAt: '2026-11-21T09:30:00.000Z',
  salt,
})

const name = { value: 'Ada Lovelace', salt: salt() }
const id = { value: 'person_1', salt: salt() }
const openings = { ...ofStatement, 'person.id': id, 'person.name': name }

interface Signed {
  readonly device?: Device
  readonly over?: Statement
  readonly clientData?: object
  readonly relyingParty?: string
  readonly flags?: number
}

function assertionOf({
  device = devices.ES256,
  over = statement,
  clientData,
  relyingParty,
  flags,
}: Signed = {}) {
  const said = {
    type: 'webauthn.get',
    challenge: challengeOf(over),
    origin: 'https://pay.example',
    crossOrigin: false,
  }
  const clientDataJSON = JSON.stringify({ ...said, ...clientData })
  const authenticatorData = Buffer.concat([
    sha256(relyingParty ?? site.id),
    Buffer.from([flags ?? 0b101, 0, 0, 0, 7]),
  ])
  const signed = Buffer.concat([authenticatorData, sha256(clientDataJSON)])
  const signature = sign(
    device.privateKey.asymmetricKeyType === 'ed25519' ? null : 'sha256',
    signed,
    device.privateKey,
  )
  return {
    credentialId: 'credential',
    authenticatorData: encoded(authenticatorData),
    clientDataJSON: encoded(clientDataJSON),
    signature: encoded(signature),
  }
}

const claimsOf = ({ device = devices.ES256, ...signed }: Signed = {}) => ({
  ownerId: 'customer_1',
  mode: 'live' as const,
  statement: statement as Statement,
  assertion: assertionOf({ device, ...signed }),
  publicKey: device.publicKey.export({ format: 'jwk' }),
  relyingParty: site,
  person: { id: commitmentTo(id.value, id.salt), name: commitmentTo(name.value, name.salt) },
  approvedAt: '2026-11-21T09:27:00.000Z',
})

/** Signs these claims with the installation's key, as a compromised installation would. */
const proofOf = (
  claims: { ownerId: string; mode: 'test' | 'live' },
  type = 'intent-approval',
): ApprovalProof => ({
  jws: signJws(privateKey, ours.kid, type, claims),
  openings,
})

/** The agent's name and the purpose are signed as well; the proof is about who may be paid, and how much. */
const { agentName: _agentName, purpose: _purpose, ...shown } = subject

const approval = {
  ownerId: 'customer_1',
  mode: 'live',
  ...shown,
  person: { id: 'person_1', name: 'Ada Lovelace' },
  approvedAt: '2026-11-21T09:27:00.000Z',
  approvals: [{ person: { id: 'person_1', name: 'Ada Lovelace' }, approvedAt: '2026-11-21T09:27:00.000Z' }],
}

describe('the proof of an approval', () => {
  test.each(Object.entries(devices))('a proof by a passkey with %s shows who approved what', (_, device) => {
    expect(verifyApproval(proofOf(claimsOf({ device })), keys)).toEqual(approval)
  })

  test('a proof still verifies after every name is erased', () => {
    const { jws } = proofOf(claimsOf())
    const person = { id: null, name: null }
    const forgotten = {
      payee: { ...subject.payee, name: null, iban: null },
      person,
      approvals: [{ person, approvedAt: approval.approvedAt }],
    }
    expect(verifyApproval({ jws, openings: {} }, keys)).toEqual({ ...approval, ...forgotten })
    expect(JSON.stringify(jws.split('.').map(part => Buffer.from(part, 'base64url').toString()))).not.toMatch(
      /Lovelace|Bookshop|DE8937|person_1/,
    )
  })

  test.each<[string, object]>([
    ['amount', { amountEuros: '24.00' }],
    ['largest amount', { largestEuros: '96.25' }],
    ['intent', { intentId: 'intent_2' }],
    ['payee', { payee: { ...subject.payee, name: commitmentTo('Bookshop', salt()) } }],
    ['account', { payee: { ...subject.payee, iban: null } }],
  ])('falls with another %s, even where we had signed it', (_, other) => {
    const claims = claimsOf()
    const changed = { ...statement, subject: { ...statement.subject, ...other } }
    expect(() => verifyApproval(proofOf({ ...claims, statement: changed } as typeof claims), keys)).toThrow(
      'The passkey has signed another statement.',
    )
  })

  test.each<[string, Signed]>([
    ['is for another origin', { clientData: { origin: 'https://evil.example' } }],
    ['comes from a frame of another site', { clientData: { crossOrigin: true } }],
    ['enrols', { clientData: { type: 'webauthn.create' } }],
    ['is for another relying party', { relyingParty: 'evil.example' }],
    ['did not verify the person', { flags: 0b001 }],
    ['did not find the person present', { flags: 0b100 }],
    ['has another challenge', { clientData: { challenge: encoded(sha256('other')) } }],
  ])('falls where the signature of the device %s', (_, signed) => {
    expect(() => verifyApproval(proofOf(claimsOf(signed)), keys)).toThrow(ApprovalRejected)
  })

  test('falls with the key of another device, a forged signature, another kind of statement, another mode', () => {
    const claims = claimsOf()
    const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' })
    const mandate = { ...statement, kind: 'mandate' } as Statement
    const wrong = [
      { ...claims, publicKey: stranger },
      { ...claims, publicKey: { kty: 'oct', k: 'AAAA' } },
      { ...claims, assertion: { ...claims.assertion, signature: encoded('forged') } },
      { ...claims, assertion: { ...claims.assertion, authenticatorData: encoded('short') } },
      { ...claims, statement: mandate, assertion: assertionOf({ over: mandate }) },
      { ...claims, mode: 'test' as const },
      { ...claims, relyingParty: { ...site, origins: [] } },
      { ownerId: 'customer_1', mode: 'live' as const },
    ]
    for (const one of wrong) expect(() => verifyApproval(proofOf(one), keys)).toThrow(ApprovalRejected)
    expect(() => verifyApproval(proofOf(claims, 'payment-evidence'), keys)).toThrow(SignatureRejected)
    expect(() => verifyApproval(proofOf(claims), { keys: [publicKeyFromX(newSigningKeyPair().x)] })).toThrow(
      SignatureRejected,
    )
  })

  test('falls with an opening that is not what was committed to', () => {
    const proof = proofOf(claimsOf())
    for (const place of ['payee.name', 'payee.iban', 'person.id', 'person.name', 'person']) {
      const opening = { value: 'Mallory', salt: openings[place as keyof typeof openings].salt }
      const changed = { ...proof, openings: { ...openings, [place]: opening } }
      expect(() => verifyApproval(changed, keys)).toThrow(`The opening ${place} is of something else.`)
    }
  })

  test('falls with any one character changed, and nothing but a rejection is thrown', () => {
    const proof = proofOf(claimsOf())
    fc.assert(
      fc.property(fc.nat(proof.jws.length - 1), fc.constantFrom('A', 'B', '_', '.'), (at, character) => {
        fc.pre(proof.jws[at] !== character)
        const jws = `${proof.jws.slice(0, at)}${character}${proof.jws.slice(at + 1)}`
        expect(() => verifyApproval({ ...proof, jws }, keys)).toThrow(SignatureRejected)
      }),
    )
  })

  test('that anybody has made up of anything throws nothing but a rejection', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...Object.keys(claimsOf())), fc.jsonValue()), made => {
        const claims = { ...claimsOf(), ...made } as ReturnType<typeof claimsOf>
        fc.pre(Object.keys(made).some(member => !['ownerId', 'approvedAt'].includes(member)))
        expect(() => verifyApproval(proofOf(claims), keys)).toThrow(SignatureRejected)
      }),
    )
  })
})
