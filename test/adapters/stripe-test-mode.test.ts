import { expect, test } from '@jest/globals'
import { stripeAcquirer } from '../../src/adapters/stripe-acquirer/stripe-acquirer.ts'
import { STRIPE_PREVIEW_VERSION } from '../../src/adapters/stripe-issuing/shared-tokens.ts'
import { clock } from '../../src/values/clock.ts'
import { newId } from '../../src/values/ids.ts'
import { cents } from '../../src/values/money.ts'

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
