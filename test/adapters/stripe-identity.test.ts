import { afterEach, describe, expect, test } from '@jest/globals'
import { isSamePerson } from '../../src/adapters/stripe/identity/same-person.ts'
import { stripeIdentity } from '../../src/adapters/stripe/identity/stripe-identity.ts'
import { clock } from '../../src/values/clock.ts'
import { newId } from '../../src/values/ids.ts'
import { address, EVENTS_SECRET, eventOf, signed } from '../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../support/cards/stripe-double.ts'

const stripe = await startStripeDouble()
const { identities } = stripe
const identity = stripeIdentity({
  secretKey: 'rk_live_51NeverToBeSeen',
  webhookSecrets: [EVENTS_SECRET],
  apiUrl: stripe.url,
})

const SESSIONS = 'identity/verification_sessions'
const call = {
  requestId: newId('request'),
  now: clock.real(),
  returnUrl: 'https://pay.example/console/identity',
}
const person = { name: 'Ada King', dateOfBirth: '1985-12-10', nationality: 'DE', address }
const shown = { first_name: 'ADA AUGUSTA', last_name: 'KING', dob: { day: 10, month: 12, year: 1985 } }

const aCheck = () => ({ reference: newId('kycsubmission'), submittedAt: call.now, person, documents: [] })

afterEach(() => stripe.heal())

/** A submitted check and the id of its session. */
async function submitted() {
  const check = aCheck()
  expect(await identity.submit(check, call)).toEqual({ status: 'in_review' })
  return { check, id: String([...identities.sessions.keys()].at(-1)) }
}

describe('a verification session', () => {
  test('is one for each submission, and has a page for the person', async () => {
    const { check, id } = await submitted()
    stripe.forgetKeys()
    const count = identities.sessions.size
    expect(await identity.submit(check, call)).toEqual({ status: 'in_review' })
    expect(await identity.page?.(check, call)).toEqual({ url: `https://verify.stripe.com/start/${id}` })
    expect(identities.sessions.size).toBe(count)
    expect(stripe.to(new RegExp(`^POST ${SESSIONS}$`)).at(-1)?.params).toMatchObject({
      type: 'document',
      client_reference_id: check.reference,
      return_url: call.returnUrl,
      options: { document: { require_matching_selfie: 'true' } },
    })
    expect(JSON.stringify(stripe.to(/verification_sessions/).map(({ params }) => params))).not.toMatch(
      /Ada|1985/,
    )
  })

  test('verifies the person of the submission, and nobody else', async () => {
    const { check, id } = await submitted()
    identities.verify(id, shown)
    expect(await identity.inquire(check, call)).toEqual({ status: 'verified' })
    const other = await submitted()
    identities.verify(other.id, { ...shown, first_name: 'Grace', last_name: 'Hopper' })
    expect(await identity.inquire(other.check, call)).toEqual({ status: 'rejected', code: 'data_mismatch' })
    expect(await identity.page?.(check, call)).toEqual({ url: null })
  })

  test.each([
    ['document_expired', 'document_expired'],
    ['selfie_face_mismatch', 'document_not_accepted'],
    ['document_unverified_other', 'document_unreadable'],
    ['under_supported_age', 'person_refused'],
    ['something_new', 'other'],
  ])('that ends with %s is a rejection, and cannot end otherwise later', async (error, code) => {
    const { check, id } = await submitted()
    identities.fail(id, error)
    expect(await identity.inquire(check, call)).toEqual({ status: 'rejected', code })
    expect(identities.sessions.get(id)).toMatchObject({ status: 'canceled' })
  })

  test('that the person has left waits for them', async () => {
    const { check, id } = await submitted()
    identities.fail(id, 'abandoned')
    expect(await identity.inquire(check, call)).toEqual({ status: 'in_review' })
    expect(await identity.page?.(check, call)).toMatchObject({ url: expect.any(String) })
  })

  test('that Stripe does not know is submitted again', async () => {
    expect(await identity.inquire(aCheck(), call)).toEqual({ status: 'unknown' })
  })

  test('without permission for the date of birth is unanswered, and no decision', async () => {
    const { check, id } = await submitted()
    identities.verify(id, shown)
    stripe.break(new RegExp(`^GET ${SESSIONS}/`), refusal(403, { message: 'No permission.' }))
    expect(await identity.inquire(check, call)).toBe('unusable')
  })

  test('is redacted once', async () => {
    const { check, id } = await submitted()
    for (const _ of [1, 2]) expect(await identity.redact?.(check.reference)).toBe('redacted')
    expect(identities.sessions.get(id)).toMatchObject({ redaction: { status: 'processing' } })
    expect(stripe.to(/redact$/)).toHaveLength(1)
  })
})

test.each([
  ['Jürgen Groß', { first_name: 'JUERGEN', last_name: 'GROSS' }, true],
  ['Ada King', { first_name: 'Ada Augusta', last_name: 'King' }, true],
  ['Ada', { first_name: 'Ada', last_name: 'King' }, false],
  ['King', { first_name: 'Ada', last_name: 'King' }, false],
  ['Suharto', { first_name: '', last_name: 'Suharto' }, true],
  ['Ada Lovelace', { first_name: 'Ada', last_name: 'King' }, false],
  ['', { first_name: 'Ada', last_name: 'King' }, false],
])('the name “%s” is that of %j: %s', (name, names, isSame) => {
  const dob = { day: 1, month: 2, year: 1980 }
  expect(isSamePerson({ name, dateOfBirth: '1980-02-01' }, { ...names, dob })).toBe(isSame)
  expect(isSamePerson({ name, dateOfBirth: '1980-01-02' }, { ...names, dob })).toBe(false)
})

test('an event only says that a session has changed', () => {
  const read = (type: string, object: object, secret = EVENTS_SECRET) => {
    const body = eventOf(type, object)
    return identity.read(Buffer.from(body), signed(body, secret, clock.real()), clock.real())
  }
  const type = 'identity.verification_session.verified'
  const session = { client_reference_id: 'kycsubmission_1', status: 'verified' }
  expect(read(type, session)).toEqual({
    kind: 'notice',
    notice: { reference: 'kycsubmission_1', status: { status: 'changed' } },
  })
  expect(read(type, { client_reference_id: null })).toEqual({ kind: 'ignored' })
  expect(read('charge.refunded', session)).toEqual({ kind: 'ignored' })
  expect(read(type, session, 'whsec_another1234')).toMatchObject({ kind: 'unsigned' })
})
