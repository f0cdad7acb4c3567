import './stripe-issuing/authorizations.ts'
import './stripe-issuing/cardholders.ts'
import './stripe-issuing/cards.ts'
import './stripe-issuing/disclosure.ts'
import './stripe-issuing/disputes.ts'
import './stripe-issuing/faults.ts'
import './stripe-issuing/notices.ts'
import './stripe-issuing/outcomes.ts'
import './stripe-issuing/parameters.ts'
import './stripe-issuing/repeated-orders.ts'
import './stripe-issuing/shared-tokens.ts'
import './stripe-issuing/signatures.ts'
import './stripe-issuing/stand-in.ts'
import { describe, expect, test } from '@jest/globals'
import { externalSystemsFor } from '../support/commerce/rail.ts'

const access = {
  CARD_PROCESSOR: 'stripe',
  STRIPE_SECRET_KEY: 'sk_live_51NeverToBeSeen',
  STRIPE_WEBHOOK_SECRET: 'whsec_realtime1234567890',
}
const live = (env: Record<string, string>) => externalSystemsFor(env).cardProcessor('live')

describe('CARD_PROCESSOR=stripe', () => {
  test('chooses Stripe for live mode; test mode keeps the sandbox', () => {
    expect(live(access).name).toBe('stripe')
    expect(externalSystemsFor(access).cardProcessor('test').name).toBe('sandbox')
  })

  test.each(['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'])('is refused without %s, which is named', name => {
    expect(() => live({ ...access, [name]: '' })).toThrow(`${name} is not set`)
  })
})
