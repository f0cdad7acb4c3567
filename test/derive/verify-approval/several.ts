import { createPrivateKey, sign } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { SignatureRejected, verifyApproval, verifySigned } from '../../../src/derive/client.ts'
import { newSigningKeyPair } from '../../../src/ports/signer.ts'
import { manipulated, ofThree } from '../../support/control/manipulated-proofs.ts'
import {
  approvalBy,
  approvers,
  claimsIn,
  keySet,
  payment,
  proofOfOne,
  proofOfSeveral,
  resigned,
  signedAs,
} from '../../support/control/several-approvals.ts'

const [ada, grace, alan] = approvers
const { agentName: _agentName, purpose: _purpose, ...shown } = payment

const proven = {
  ownerId: 'customer_1',
  mode: 'live',
  ...shown,
  person: { id: 'person_3', name: 'Alan Turing' },
  approvedAt: '2026-11-21T09:14:00.000Z',
  approvals: [
    { person: { id: 'person_1', name: 'Ada Lovelace' }, approvedAt: '2026-11-21T09:10:00.000Z' },
    { person: { id: 'person_2', name: 'Grace Hopper' }, approvedAt: '2026-11-21T09:12:00.000Z' },
    { person: { id: 'person_3', name: 'Alan Turing' }, approvedAt: '2026-11-21T09:14:00.000Z' },
  ],
}

describe('a proof of several approvals', () => {
  test('shows who approved what and when, in the order of the approvals', () => {
    expect(verifyApproval(ofThree, keySet)).toEqual(proven)
  })

  test('has its approvals in the order of their times, in whichever order they are signed', async () => {
    const proof = await proofOfSeveral([approvalBy(alan, 14), approvalBy(ada, 10), approvalBy(grace, 12)])
    expect(verifyApproval(proof, keySet)).toEqual(proven)
  })

  test('verifies after the names of one person, or all names, are erased', () => {
    const rest = Object.entries(ofThree.openings).filter(([place]) => !place.startsWith('approvals.2.'))
    const [first, second, third] = proven.approvals
    const unnamed = { id: null, name: null }
    expect(verifyApproval({ ...ofThree, openings: Object.fromEntries(rest) }, keySet)).toEqual({
      ...proven,
      person: unnamed,
      approvals: [first, second, { ...third, person: unnamed }],
    })
    expect(verifyApproval({ ...ofThree, openings: {} }, keySet)).toMatchObject({
      payee: { name: null, iban: null },
      approvals: [{ person: unnamed }, { person: unnamed }, { person: unnamed }],
    })
    expect(JSON.stringify(claimsIn(ofThree))).not.toMatch(/Ada|Grace|Alan|Bookshop|DE8937|person_/)
  })

  test('has one opening for each name of the payment, and those of each person', () => {
    const own = [0, 1, 2].flatMap(n =>
      ['person', 'person.id', 'person.name'].map(place => `approvals.${n}.${place}`),
    )
    const shared = ['agentName', 'payee.iban', 'payee.name', 'purpose']
    expect(Object.keys(ofThree.openings).toSorted()).toEqual([...shared, ...own].toSorted())
  })

  test('may leave open who must sign', async () => {
    const anyone = { subject: { person: null } }
    const proof = await proofOfSeveral([approvalBy(ada, 10, anyone), approvalBy(grace, 12)])
    expect(verifyApproval(proof, keySet).approvals).toEqual(proven.approvals.slice(0, 2))
  })

  test.each(manipulated)('is refused with %s', (_, proof, message) => {
    expect(() => verifyApproval(proof, keySet)).toThrow(message)
    expect(() => verifyApproval(proof, keySet)).toThrow(SignatureRejected)
  })

  test('is refused where the signer’s opening is disclosed in two approvals, and the rest is erased', async () => {
    const proof = await proofOfSeveral([
      approvalBy(ada, 10),
      approvalBy({ ...grace, id: ada.id }, 12),
      approvalBy(alan, 14),
    ])
    const signers = Object.entries(proof.openings).filter(([place]) => /^approvals\.\d\.person$/.test(place))
    expect(() => verifyApproval({ ...proof, openings: Object.fromEntries(signers) }, keySet)).toThrow(
      'One person has given two of the approvals.',
    )
  })

  test('is refused by its type by a verifier that knows only one approval', () => {
    const message = 'This is not a statement of the type intent-approval.'
    expect(() => verifySigned(ofThree.jws, keySet, 'intent-approval')).toThrow(message)
    const unknown = signedAs('payment-evidence', claimsIn(ofThree), ofThree.openings)
    expect(() => verifyApproval(unknown, keySet)).toThrow(message)
  })

  const CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.'
  const foreign = createPrivateKey(newSigningKeyPair().privateKey)

  test('is refused with one character of its payload changed, with our signature or a stranger’s', () => {
    const [header, payload = '', signature] = ofThree.jws.split('.')
    fc.assert(
      fc.property(
        fc.nat(payload.length - 1),
        fc.constantFrom(...CHARACTERS),
        fc.boolean(),
        (at, character, isResigned) => {
          fc.pre(payload[at] !== character)
          const text = `${header}.${payload.slice(0, at)}${character}${payload.slice(at + 1)}`
          const other = sign(null, Buffer.from(text), foreign).toString('base64url')
          const jws = `${text}.${isResigned ? other : signature}`
          expect(() => verifyApproval({ ...ofThree, jws }, keySet)).toThrow(SignatureRejected)
        },
      ),
    )
  })

  test('throws nothing but a rejection for members that are made up', () => {
    const members = ['statement', 'assertion', 'publicKey', 'person', 'approvedAt']
    fc.assert(
      fc.property(
        fc.nat(2),
        fc.dictionary(fc.constantFrom(...members), fc.jsonValue(), { minKeys: 1 }),
        (at, made) => {
          const proof = resigned(ofThree, all => all.map((one, n) => (n === at ? { ...one, ...made } : one)))
          expect(() => verifyApproval(proof, keySet)).toThrow(SignatureRejected)
        },
      ),
    )
  })
})

describe('the signing of proofs', () => {
  test('gives one approval the same text as ever', async () => {
    const approval = approvalBy(ada, 10)
    const proof = await proofOfOne(approval, approval.approvedAt)
    const { person, ...rest } = JSON.parse(JSON.stringify(claimsIn(proof)))
    const { credentialId, assertion } = approval
    const { authenticatorData, clientDataJSON, signature } = assertion
    const text = JSON.stringify({
      ownerId: 'customer_1',
      mode: 'live',
      statement: approval.statement,
      assertion: { credentialId, authenticatorData, clientDataJSON, signature },
      publicKey: approval.publicKeyJwk,
      algorithm: approval.algorithm,
      relyingParty: { id: 'pay.example', origins: ['https://pay.example'] },
      person,
      approvedAt: rest.approvedAt,
    })
    expect(Buffer.from(String(proof.jws.split('.')[1]), 'base64url').toString()).toBe(text)
    expect(Object.keys(proof.openings)).toEqual([
      ...Object.keys(approval.openings),
      'person.id',
      'person.name',
    ])
    expect(verifyApproval(proof, keySet)).toMatchObject({
      person: proven.approvals[0]?.person,
      approvals: proven.approvals.slice(0, 1),
    })
  })

  test.each([
    ['one approval', [approvalBy(ada, 10)], 'has 2 to 40 approvals, not 1'],
    ['41 approvals', Array.from({ length: 41 }, () => approvalBy(ada, 10)), 'has 2 to 40 approvals, not 41'],
    ['other salts', [approvalBy(ada, 10), approvalBy(grace, 12, { salts: 'other' })], 'more than the person'],
    [
      'another amount',
      [approvalBy(ada, 10), approvalBy(grace, 12, { subject: { amountEuros: '26.00' } })],
      'more than the person',
    ],
  ])('throws for several with %s', (_, approvals, message) => {
    expect(() => proofOfSeveral(approvals)).toThrow(message)
  })
})
