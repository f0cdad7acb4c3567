import { expect, test } from '@jest/globals'
import { stripeAcquirer } from '../../src/adapters/stripe/acquirer/stripe-acquirer.ts'
import { stripeFunding } from '../../src/adapters/stripe/funding/stripe-funding.ts'
import { stripeIdentity } from '../../src/adapters/stripe/identity/stripe-identity.ts'
import { STRIPE_API_VERSION } from '../../src/adapters/stripe/issuing/connection.ts'
import { STRIPE_PREVIEW_VERSION } from '../../src/adapters/stripe/issuing/shared-tokens.ts'
import { clock } from '../../src/values/clock.ts'
import { newId } from '../../src/values/ids.ts'
import { cents } from '../../src/values/money.ts'
import { address } from '../support/cards/stripe.ts'

/** A test key of Stripe (`sk_test_…`) of an account with the preview of shared payment tokens. */
const key = process.env.STRIPE_TEST_KEY ?? ''
const withKey = key.startsWith('sk_test_') ? test : test.skip

/** Stripe grants test mode a token by itself, as if an agent had shared one. */
async function aGrantedToken(): Promise<string> {
  const response = await fetch('https://api.stripe.com/v1/test_helpers/shared_payment/granted_tokens', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'stripe-version': STRIPE_PREVIEW_VERSION },
    body: new URLSearchParams({
      payment_method: 'pm_card_visa',
      'usage_limits[currency]': 'eur',
      'usage_limits[max_amount]': '2000',
      'usage_limits[expires_at]': String(Math.floor(clock.real().getTime() / 1_000) + 600),
    }),
  })
  const token = (await response.json()) as { id?: string }
  if (token.id === undefined) throw new Error(JSON.stringify(token))
  return token.id
}

withKey('Stripe’s test mode charges a shared payment token once, and refuses it afterwards', async () => {
  const acquirer = stripeAcquirer({ secretKey: key, webhookSecrets: [], networkId: 'profile_test' })
  const handle = await aGrantedToken()
  const payee = { ownerId: newId('owner'), mode: 'test' } as const
  const order = {
    handle,
    amountCents: cents(2_000n),
    reference: newId('challenge'),
    descriptor: 'A test',
    ...payee,
  }
  const call = { requestId: newId('request'), now: clock.real() }
  expect(await acquirer.charge({ ...order, token: handle }, call)).toEqual({ outcome: 'approved' })
  expect(await acquirer.stateOf(order, call)).toEqual({ outcome: 'approved' })
  const again = { ...order, reference: newId('challenge'), token: handle }
  expect(await acquirer.charge(again, call)).toMatchObject({ outcome: 'declined' })
})

async function post(path: string, members: Record<string, string>): Promise<string> {
  const response = await fetch(`https://api.stripe.com/v1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'stripe-version': STRIPE_API_VERSION },
    body: new URLSearchParams(members),
  })
  const { id } = (await response.json()) as { id?: string }
  if (id === undefined) throw new Error(`${path}: ${response.status}`)
  return id
}

const account = { secretKey: key, webhookSecrets: [] }
const returnUrl = 'https://pay.example/console'

withKey('Stripe’s test mode makes a page for a card, and charges a saved card once', async () => {
  const rail = stripeFunding(account)
  const call = { reference: newId('funding'), requestId: newId('request'), returnUrl, now: clock.real() }
  const page = await rail.setUp({ ownerId: 'customer_1', returnUrl }, call)
  if (page === 'silent' || 'refused' in page) throw new Error(JSON.stringify(page))
  expect(await rail.instrumentOf(page.token, { ...call, ownerId: 'customer_1' })).toBe('incomplete')
  expect(await rail.instrumentOf(page.token, { ...call, ownerId: 'customer_2' })).toBe('unknown')

  const customer = await post('customers', {})
  const method = await post('payment_methods/pm_card_visa/attach', { customer })
  const token = `card/${customer}/${method}`
  const charge = { token, amountCents: cents(2_500n), madeAt: call.now }
  for (const _ of [1, 2]) expect(await rail.charge(charge, call)).toEqual({ status: 'settled' })
  expect(await rail.stateOf(charge, call)).toEqual({ status: 'settled' })
  expect(await rail.returnsSince(call.now)).toEqual(expect.any(Array))
  expect(await rail.forget(token, call)).toBe('forgotten')
})

withKey('Stripe’s test mode has one verification session for a submission', async () => {
  const identity = stripeIdentity(account)
  const call = { requestId: newId('request'), now: clock.real(), returnUrl }
  const person = { name: 'Ada King', dateOfBirth: '1985-12-10', nationality: 'DE', address }
  const check = { reference: newId('kycsubmission'), submittedAt: call.now, person, documents: [] }
  expect(await identity.inquire(check, call)).toEqual({ status: 'unknown' })
  for (const _ of [1, 2]) expect(await identity.submit(check, call)).toEqual({ status: 'in_review' })
  expect(await identity.page?.(check, call)).toEqual({ url: expect.stringMatching(/^https:/) })
  expect(await identity.redact?.(check.reference)).toBe('redacted')
})
