import type { ApprovalProof } from '../../../src/derive/client.ts'
import { Authenticator } from '../identity/authenticator.ts'
import {
  approvalBy,
  approvers,
  type ClaimsOfSeveral,
  claimsIn,
  proofOfOne,
  proofOfSeveral,
  resigned,
  signedAs,
} from './several-approvals.ts'

const [ada, grace, alan] = approvers
const [byAda, byGrace, byAlan] = [approvalBy(ada, 10), approvalBy(grace, 12), approvalBy(alan, 14)]

const ofTwo = await proofOfSeveral([byAda, byGrace])
export const ofThree = await proofOfSeveral([byAda, byGrace, byAlan])
const ofOne = await proofOfOne(byAda, byAda.approvedAt)

type Approvals = ClaimsOfSeveral['approvals']
type Approval = Approvals[number]

/** The proof of three with its second approval replaced by this one. The signing itself would refuse it. */
async function withSecond(other: Parameters<typeof proofOfSeveral>[0][number]): Promise<ApprovalProof> {
  const { statement, assertion, publicKeyJwk, credentialId } = other
  const { authenticatorData, clientDataJSON, signature } = assertion
  return resigned(ofThree, ([first, second, third]) => [
    first,
    {
      ...second,
      statement,
      assertion: { credentialId, authenticatorData, clientDataJSON, signature },
      publicKey: publicKeyJwk,
    },
    third,
  ])
}

const exchange =
  (member: keyof Approval) =>
  ([first, second, ...others]: Approvals) => [
    { ...first, [member]: second?.[member] },
    { ...second, [member]: first?.[member] },
    ...others,
  ]

const atTimes = (times: readonly unknown[]) => (approvals: Approvals) =>
  approvals.map((one, n) => ({ ...one, approvedAt: times[n] }))

const timesOf = (approvals: Approvals) => approvals.map(({ approvedAt }) => approvedAt)

/** Swaps the openings of the persons of the first two approvals. */
const exchangedOpenings = ({ openings }: ApprovalProof): ApprovalProof['openings'] =>
  Object.fromEntries(
    Object.entries(openings).map(([place, opening]) => [
      place.replace(/^approvals\.([01])\.person\./, (_, n) => `approvals.${1 - Number(n)}.person.`),
      opening,
    ]),
  )

const rewritten = ([first]: Approvals) => [
  first,
  {
    ...first,
    publicKey: { alg: 'ES256', ...first?.publicKey },
    assertion: { ...first?.assertion, credentialId: 'another' },
  },
]

const ONE_KEY = 'One passkey has signed two of the approvals.'
const ORDER = 'The approvals are not in the order of their times.'
const COUNT = 'A proof of several approvals has 2 to 40 of them.'
const DIFFERENT = 'The passkeys have signed different payments.'
const INCOMPLETE = 'The proof is not complete.'

/** What was done to a proof of several, and what `verifyApproval` says of it. The service's own key has signed each. */
export const manipulated: readonly (readonly [string, ApprovalProof, string])[] = [
  ['one of two approvals cut out', resigned(ofTwo, all => all.slice(0, 1)), COUNT],
  ['every approval cut out', resigned(ofTwo, () => []), COUNT],
  ['no list of approvals', signedAs('intent-approvals', { ...claimsIn(ofTwo), approvals: {} }), COUNT],
  [
    'the first of three cut out, its openings left',
    resigned(ofThree, all => all.slice(1)),
    'The opening approvals.0.person.id is of something else.',
  ],
  [
    'two signatures exchanged',
    resigned(ofThree, exchange('assertion')),
    'The passkey has signed another statement.',
  ],
  [
    'the signature of another approval in its place',
    resigned(ofThree, ([first, second, third]) => [
      first,
      { ...second, assertion: { ...second?.assertion, signature: first?.assertion.signature } },
      third,
    ]),
    'The signature of the passkey does not match this statement.',
  ],
  [
    'two public keys exchanged',
    resigned(ofThree, exchange('publicKey')),
    'The signature of the passkey does not match this statement.',
  ],
  ['one approval twice', resigned(ofTwo, ([first]) => [first, first]), ONE_KEY],
  ['one key twice, written in another way', resigned(ofTwo, rewritten), ONE_KEY],
  [
    'one name of two passkeys',
    resigned(ofTwo, all =>
      all.map(one => ({ ...one, assertion: { ...one.assertion, credentialId: 'same' } })),
    ),
    ONE_KEY,
  ],
  [
    'a name of a passkey that is no text',
    resigned(ofTwo, all =>
      all.map((one, n) => ({ ...one, assertion: { ...one.assertion, credentialId: n } })),
    ),
    ONE_KEY,
  ],
  [
    'one person with two passkeys',
    await proofOfSeveral([
      byAda,
      approvalBy({ ...ada, device: new Authenticator({ origin: 'https://pay.example' }) }, 12),
    ]),
    'One person has given two of the approvals.',
  ],
  ['the approvals reordered', resigned(ofThree, all => [...all].reverse()), ORDER],
  [
    'the approvals reordered with times in order',
    resigned(ofThree, all => atTimes(timesOf(all))([...all].reverse())),
    'The opening approvals.0.person.id is of something else.',
  ],
  [
    'the persons of two approvals exchanged',
    { ...resigned(ofThree, exchange('person')), openings: exchangedOpenings(ofThree) },
    'The passkey is of another person.',
  ],
  [
    'another person as the signer',
    await proofOfSeveral([byAda, { ...byGrace, person: { id: 'person_4', name: 'Mallory' } }]),
    'The passkey is of another person.',
  ],
  [
    'an approval in another mode',
    await withSecond(approvalBy(grace, 12, { mode: 'test' })),
    'The passkey has signed something of another kind.',
  ],
  [
    'an approval of another amount',
    await withSecond(approvalBy(grace, 12, { subject: { amountEuros: '26.00' } })),
    DIFFERENT,
  ],
  ['an approval with other salts', await withSecond(approvalBy(grace, 12, { salts: 'other' })), DIFFERENT],
  [
    'a changed amount in one statement',
    resigned(ofTwo, ([first, second]) => [
      first,
      JSON.parse(JSON.stringify(second).replace('"25.00"', '"26.00"')),
    ]),
    'The passkey has signed another statement.',
  ],
  [
    'an approval later than the proof',
    signedAs(
      'intent-approvals',
      { ...claimsIn(ofTwo), approvedAt: '2026-11-21T09:11:59.999Z' },
      ofTwo.openings,
    ),
    ORDER,
  ],
  ['a time that is no text', resigned(ofTwo, atTimes([0, 1])), ORDER],
  ['a time without a zone', resigned(ofTwo, atTimes(['2026-11-21', '2026-11-21'])), ORDER],
  ['more approvals than forty', resigned(ofTwo, ([first]) => Array.from({ length: 41 }, () => first)), COUNT],
  ['something that is no approval', resigned(ofTwo, ([first]) => [first, null]), INCOMPLETE],
  ['the type of one approval', signedAs('intent-approval', claimsIn(ofTwo), ofTwo.openings), INCOMPLETE],
  ['one approval under the type of several', signedAs('intent-approvals', claimsIn(ofOne)), COUNT],
  [
    'an opening of another name',
    {
      ...ofTwo,
      openings: {
        ...ofTwo.openings,
        'approvals.1.person.name': { value: 'Mallory', salt: saltOf(ofTwo, 'approvals.1.person.name') },
      },
    },
    'The opening approvals.1.person.name is of something else.',
  ],
  [
    'a type that is not known',
    signedAs('intent-approvals+2', claimsIn(ofTwo), ofTwo.openings),
    'This is not a statement of the type intent-approval.',
  ],
]

function saltOf({ openings }: ApprovalProof, place: string): string {
  return String(openings[place]?.salt)
}
