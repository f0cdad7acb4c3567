import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  agrees,
  challengeOf,
  commitmentTo,
  type Kind,
  newStatement,
  type Statement,
  type Subjects,
  sentenceOf,
} from '../src/statements/index.ts'

let salts = 0
const circumstances = {
  origin: 'https://pay.example',
  mode: 'live',
  nonce: 'n'.repeat(43),
  expiresAt: '2026-11-21T09:30:00.000Z',
  salt: () => String(salts++).padStart(22, '0'),
} as const

const amount = fc.integer({ min: 1, max: 100_000_000 }).map(cents => (cents / 100).toFixed(2))
const text = fc.string({ unit: 'grapheme', maxLength: 20 })
const name = fc.constantFrom('Bookshop', 'Bäckerei Müller', 'Ada', 'Ada ', 'ada', '')
const iban = fc.option(fc.constantFrom('DE89370400440532013000', 'FR7630006000011234567890189'))
const id = fc.constantFrom('a_1', 'a_2', 'a_3')

const subjects: { [K in Kind]: fc.Arbitrary<Subjects[K]> } = {
  intent: fc.record({
    intentId: id,
    agentId: id,
    amountEuros: amount,
    largestEuros: amount,
    currency: fc.constant('EUR'),
    payee: fc.record({ name, iban, walletId: fc.option(id), requestId: fc.option(id) }),
    agentName: name,
    purpose: name,
    person: fc.option(id),
  }),
  payment: fc.record({
    totalEuros: amount,
    currency: fc.constant('EUR'),
    payees: fc.array(fc.record({ name, iban, walletId: fc.option(id), amountEuros: amount }), {
      minLength: 1,
      maxLength: 3,
    }),
    fromWalletId: id,
  }),
  mandate: fc.record({
    agentId: id,
    constraints: fc.record({
      perTransactionEuros: fc.option(amount),
      perDayEuros: fc.option(amount),
      perMonthEuros: fc.option(amount),
      totalEuros: fc.option(amount),
      count: fc.option(fc.nat()),
      merchants: fc.option(fc.array(text)),
      mccs: fc.option(fc.array(text)),
      countries: fc.option(fc.array(text)),
    }),
    expiresAt: fc.constant('2026-12-21T09:30:00.000Z'),
  }),
  revocation: fc.record({ passkeyId: id, name }),
  enrolment: fc.record({ personId: id, name }),
  invitation: fc.oneof(
    fc.record({ name, email: fc.option(text), role: fc.constantFrom('owner', 'viewer') }),
    fc.record({ personId: id }),
    fc.record({ personId: id, email: text }),
    fc.record({ personId: id, name, role: fc.constantFrom('owner', 'viewer') }),
  ),
  key: fc.oneof(
    fc.record({ name, environment: text, scopes: fc.option(fc.array(text)) }),
    fc.record({ keyId: id, name }),
  ),
  deletion: fc.record({ subjectType: fc.constantFrom('owner', 'person'), subjectId: id }),
  device: fc.record({
    deviceId: id,
    deviceName: name,
    clientType: fc.constantFrom('cli', 'sdk'),
    scopes: fc.array(text),
    userCode: text,
  }),
  pairing: fc.record({ deviceName: name, pairingCode: text, scopes: fc.option(fc.array(text)) }),
  widening: fc.record({
    changes: fc.array(
      fc.record({
        of: fc.constantFrom('agent', 'card'),
        id,
        name: fc.option(name),
        field: text,
        from: text,
        to: text,
      }),
      { minLength: 1, maxLength: 3 },
    ),
  }),
  registration: fc.record({ personId: id }),
  sign_in: fc.constant({}),
}

const said = fc
  .constantFrom(...(Object.keys(subjects) as Kind[]))
  .chain(kind =>
    fc.record({ kind: fc.constant(kind), members: subjects[kind] as fc.Arbitrary<Subjects[Kind]> }),
  )

const stated = ({ kind, members }: { kind: Kind; members: Subjects[Kind] }) =>
  newStatement(kind, members, circumstances)

const intent: Subjects['intent'] = {
  intentId: 'intent_1',
  agentId: 'agent_1',
  amountEuros: '1024.00',
  largestEuros: '1024.00',
  currency: 'EUR',
  payee: { name: 'Bookshop', iban: 'DE89370400440532013000', walletId: null, requestId: null },
  agentName: 'Scout',
  purpose: 'A paper on caching',
  person: 'person_1',
}

describe('a statement', () => {
  test('agrees with what it was made of, after a way through JSON too', () => {
    fc.assert(
      fc.property(said, given => {
        const { statement, openings } = JSON.parse(JSON.stringify(stated(given)))
        expect(agrees(statement, openings, given)).toBe(true)
        expect(challengeOf(statement)).toMatch(/^[\w-]{43}$/)
      }),
    )
  })

  test('agrees with nothing else', () => {
    fc.assert(
      fc.property(said, said, (given, other) => {
        fc.pre(JSON.stringify(given) !== JSON.stringify(other))
        const { statement, openings } = stated(given)
        expect(agrees(statement, openings, other)).toBe(false)
      }),
    )
  })

  test.each([
    ['amount', { amountEuros: '1025.00' }],
    ['largest amount', { largestEuros: '1024.01' }],
    ['intent', { intentId: 'intent_2' }],
    ['IBAN', { payee: { ...intent.payee, iban: 'FR7630006000011234567890189' } }],
    ['payee without an IBAN', { payee: { ...intent.payee, iban: null } }],
    ['agent’s name', { agentName: 'Reader' }],
    ['purpose', { purpose: 'A laptop' }],
    ['person', { person: null }],
  ])('has another challenge, and agrees no more, with another %s', (_, change) => {
    const { statement, openings } = stated({ kind: 'intent', members: intent })
    const changed = { ...intent, ...change }
    expect(agrees(statement, openings, { kind: 'intent', members: changed })).toBe(false)
    const same = { ...circumstances, salt: () => '0'.repeat(22) }
    const challenges = [intent, changed].map(members =>
      challengeOf(newStatement('intent', members, same).statement),
    )
    expect(challenges[0]).not.toBe(challenges[1])
  })

  test('that names no account agrees with none', () => {
    const members = { ...intent, payee: { ...intent.payee, iban: null }, person: null }
    const { statement, openings } = stated({ kind: 'intent', members })
    expect(agrees(statement, openings, { kind: 'intent', members })).toBe(true)
    expect(
      agrees(statement, openings, { kind: 'intent', members: { ...members, payee: intent.payee } }),
    ).toBe(false)
    expect(agrees(statement, openings, { kind: 'intent', members: { ...members, person: 'person_1' } })).toBe(
      false,
    )
  })

  test.each<[string, Partial<Statement>]>([
    ['origin', { origin: 'https://pay.example.org' }],
    ['mode', { mode: 'test' }],
    ['nonce', { nonce: 'm'.repeat(43) }],
    ['end', { expiresAt: '2026-11-21T09:30:00.001Z' }],
    ['kind', { kind: 'payment' }],
  ])('has another challenge with another %s', (_, change) => {
    const { statement } = stated({ kind: 'intent', members: intent })
    expect(challengeOf({ ...statement, ...change } as Statement)).not.toBe(challengeOf(statement))
  })

  test('holds no name, no IBAN, no email and no person', () => {
    const { statement, openings } = stated({ kind: 'intent', members: intent })
    const invited = { name: 'Ada Lovelace', email: 'ada@example.com', role: 'owner' }
    const texts = JSON.stringify([statement, stated({ kind: 'invitation', members: invited }).statement])
    for (const secret of ['Bookshop', 'DE8937', 'person_1', 'Lovelace', 'example.com'])
      expect(texts).not.toContain(secret)
    const { name } = statement.subject.payee as { name: unknown }
    const { value = '', salt = '' } = openings['payee.name'] ?? {}
    expect(name).toEqual(commitmentTo(value, salt))
  })

  test('keeps its challenge when its openings are forgotten, and its sentence says so', () => {
    const { statement } = stated({ kind: 'intent', members: intent })
    expect(sentenceOf(statement, {})).toContain('[forgotten]')
  })
})

describe('the sentence', () => {
  test('says amount, payee and account', () => {
    const { statement, openings } = stated({
      kind: 'intent',
      members: { ...intent, largestEuros: '1126.40' },
    })
    expect(sentenceOf(statement, openings)).toBe(
      'Pay € 1,024.00, at most € 1,126.40, to “Bookshop” (IBAN DE89370400440532013000) for the agent “Scout”: “A paper on caching” (intent_1).',
    )
  })

  test('of a payment names every payee', () => {
    const members = {
      totalEuros: '30.00',
      currency: 'EUR',
      fromWalletId: 'wallet_1',
      payees: [
        { name: 'Ada', iban: null, walletId: 'wallet_2', amountEuros: '10.00' },
        { name: 'Müller', iban: 'DE89370400440532013000', walletId: null, amountEuros: '20.00' },
      ],
    }
    const { statement, openings } = stated({ kind: 'payment', members })
    expect(sentenceOf(statement, openings)).toBe(
      'Pay € 30.00 from the wallet wallet_1: € 10.00 to “Ada” (wallet wallet_2); € 20.00 to “Müller” (IBAN DE89370400440532013000).',
    )
  })

  test('of a mandate names every limit', () => {
    const none = { perDayEuros: null, perMonthEuros: null, totalEuros: null, mccs: null, countries: null }
    const constraints = { ...none, perTransactionEuros: '5.00', count: 3, merchants: ['Bookshop'] }
    const members = { agentId: 'agent_1', constraints, expiresAt: '2026-12-21T09:30:00.000Z' }
    const { statement, openings } = stated({ kind: 'mandate', members })
    expect(sentenceOf(statement, openings)).toBe(
      'Let the agent agent_1 pay without asking until 21 Dec 2026 09:30 UTC: at most € 5.00 a payment; at most 3 payments; only these merchants: “Bookshop”.',
    )
  })

  test('is one line in which no name passes for a part of the sentence', () => {
    fc.assert(
      fc.property(said, given => {
        const { statement, openings } = stated(given)
        expect(sentenceOf(statement, openings)).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }),
    )
    const named = (payee: string) => {
      const members = { ...intent, payee: { ...intent.payee, name: payee } }
      const { statement, openings } = stated({ kind: 'intent', members })
      return sentenceOf(statement, openings)
    }
    expect(named('Bookshop” (IBAN X)\n\u202eevil')).toContain('to “Bookshop’ (IBAN X) evil” (IBAN DE89')
  })
})
