import { afterEach, describe, expect, test } from '@jest/globals'
import { clock } from '../../../src/values/clock.ts'
import { EVENTS_SECRET, eventOf, signed } from '../../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../../support/cards/stripe-double.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aDocument, anIndividual, eventsOf, liveKey, settle, torstrasse } from '../../support/identity/kyc.ts'
import { until } from '../../support/until.ts'

const stripe = await startStripeDouble()
const { identities } = stripe
const service = await startTestService({
  env: {
    KYC_PROVIDER: 'stripe',
    STRIPE_SECRET_KEY: 'rk_live_51NeverToBeSeen',
    STRIPE_WEBHOOK_SECRET_EVENTS: EVENTS_SECRET,
    STRIPE_API_URL: stripe.url,
  },
})
const SHOWN = { first_name: 'ADA', last_name: 'LOVELACE', dob: { day: 10, month: 12, year: 1985 } }

afterEach(() => stripe.heal())

const PERSON = { name: 'Ada Lovelace', dateOfBirth: '1985-12-10', nationality: 'DE', address: torstrasse }

const submit = (client: TestClient) => bodyOf(client.kyc.create({ body: PERSON }))

const sessionOf = (submissionId: string): string => {
  const found = [...identities.sessions.values()].filter(one => one.client_reference_id === submissionId)
  expect(found).toHaveLength(1)
  return String(found[0]?.id)
}

/** A person whose submission Stripe has. */
async function waiting() {
  const { client } = await anIndividual(service)
  const { id } = await submit(client)
  await settle(client)
  const get = () => bodyOf(client.kyc.get({ params: { id } }))
  await until('Stripe has the submission', async () => (await get()).status === 'in_review')
  return { client, id, get, session: sessionOf(id) }
}

function tell(submissionId: string, type = 'identity.verification_session.verified') {
  const body = eventOf(type, { client_reference_id: submissionId })
  const headers = signed(body, EVENTS_SECRET, clock.real())
  return service.http('POST', '/rails/identity-verification', { headers, body })
}

const decided = (get: () => Promise<{ decidedAt: string | null }>) =>
  until('Stripe was asked', async () => (await get()).decidedAt !== null)

describe('a person whom Stripe verifies', () => {
  test('shows documents at its page, and can then make live keys', async () => {
    const { client, id, get, session } = await waiting()
    const page = () => bodyOf(client.kyc.page({ params: { id } }))
    expect(await page()).toEqual({ url: `https://verify.stripe.com/start/${session}` })
    expect((await liveKey(client)).status).toBe(400)
    identities.verify(session, SHOWN)
    expect((await tell(id)).body).toEqual({ taken: true })
    await settle(client)
    await decided(get)
    expect(await get()).toMatchObject({
      status: 'verified',
      decidedBy: 'provider',
      provider: 'stripe',
      documents: [],
      redactAt: expect.any(String),
    })
    expect((await liveKey(client)).status).toBe(201)
    expect(await client.kyc.page({ params: { id } })).toMatchObject({
      status: 400,
      code: 'submission_decided',
    })
    expect((await tell(id)).body).toEqual({ taken: false })
    const told = JSON.stringify(
      await service.sql('select data from events where data ->> $1 = $2', ['submissionId', id]),
    )
    expect(told).not.toMatch(/Lovelace|verify\.stripe/)
  })

  test('is found without any event', async () => {
    const { client, get, session } = await waiting()
    identities.verify(session, SHOWN)
    await bodyOf(client.sandbox.advance({ body: { minutes: 10 } }))
    await decided(get)
    expect(await get()).toMatchObject({ status: 'verified' })
  })

  test('but is somebody else is rejected, and can try again', async () => {
    const { client, id, get, session } = await waiting()
    identities.verify(session, { ...SHOWN, last_name: 'BYRON' })
    await tell(id)
    await settle(client)
    await decided(get)
    expect(await get()).toMatchObject({ status: 'rejected', rejection: { code: 'data_mismatch' } })
    expect((await submit(client)).status).toBe('pending')
  })

  test('is no other’s, and sends no document here', async () => {
    const { id } = await waiting()
    const { client } = await anIndividual(service)
    expect(await client.kyc.page({ params: { id } })).toMatchObject({ status: 404 })
    const documentIds = [(await aDocument(client)).id]
    expect(await client.kyc.create({ body: { ...PERSON, documentIds } })).toMatchObject({
      status: 400,
      code: 'documents_at_provider',
    })
  })

  test('has one session, also if Stripe’s answer is lost and its keys are forgotten', async () => {
    const { client } = await anIndividual(service)
    stripe.afterwards(/^POST identity\/verification_sessions$/, response => response.destroy())
    const { id } = await submit(client)
    await settle(client)
    stripe.heal()
    stripe.forgetKeys()
    await bodyOf(client.sandbox.advance({ body: { minutes: 10 } }))
    await until(
      'Stripe has it',
      async () => (await bodyOf(client.kyc.get({ params: { id } }))).status === 'in_review',
    )
    sessionOf(id)
  })

  test('is redacted at Stripe when the retention ends', async () => {
    const { client, id, get, session } = await waiting()
    identities.fail(session, 'document_expired')
    await tell(id, 'identity.verification_session.requires_input')
    await settle(client)
    await decided(get)
    stripe.break(/redact$/, refusal(500, { message: 'Not now.' }))
    const end = () => service.sql(`update kyc_submissions set redact_at = now() where id = $1`, [id])
    await end()
    await settle(client)
    expect(stripe.to(/redact$/)).toHaveLength(1)
    expect((await get()).redactAt).not.toBeNull()
    stripe.heal()
    await end()
    await settle(client)
    expect((await get()).redactAt).toBeNull()
    expect(identities.sessions.get(session)).toMatchObject({ redaction: { status: 'processing' } })
    expect(await eventsOf(client, 'kyc.redacted')).toEqual(['kyc.redacted'])
  })
})
