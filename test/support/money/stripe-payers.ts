import { expect } from '@jest/globals'
import { clock } from '../../../src/values/clock.ts'
import { EVENTS_SECRET, eventOf, SECRET_KEY, signed } from '../cards/stripe.ts'
import type { StripeDouble } from '../cards/stripe-double.ts'
import type { EnteredMethod } from '../cards/stripe-fundings.ts'
import { aLiveClient, aWallet, bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'

export const fundingByStripe = (apiUrl: string) => ({
  FUNDING_RAIL: 'stripe',
  STRIPE_SECRET_KEY: SECRET_KEY,
  STRIPE_WEBHOOK_SECRET_EVENTS: `whsec_identity1234,${EVENTS_SECRET}`,
  STRIPE_API_URL: apiUrl,
})

export const CARD = { type: 'card', last4: '4242' } as const
export const DEBIT = { type: 'sepa_debit', last4: '3000' } as const

let events = 0

/** People who pay by Stripe, and the events that Stripe sends. */
export function stripePayers(service: TestService, { fundings, intents }: StripeDouble) {
  async function addMethod(client: TestClient, entered: EnteredMethod) {
    const { token } = await bodyOf(client.billing.setUpPaymentMethod())
    fundings.enter(String(token), entered)
    return bodyOf(client.billing.addPaymentMethod({ body: { token: String(token), holder: 'Ada King' } }))
  }

  /** An owner with a wallet and a payment method. */
  async function aPayer(entered: EnteredMethod = CARD, mode: 'live' | 'test' = 'live') {
    const owner = await service.owner()
    const client = mode === 'test' ? owner.client : await aLiveClient(service, owner)
    const { id: walletId } = await aWallet(client)
    const { id: paymentMethodId } = await addMethod(client, entered)
    const fundingBody = (amountEuros = 25) => ({ walletId, amountEuros, paymentMethodId })
    const fund = (amountEuros?: number) => client.fund.create({ body: fundingBody(amountEuros) })
    return {
      ...{ ownerId: owner.ownerId, client, walletId, paymentMethodId, fundingBody, fund },
      funded: async (amountEuros?: number) => (await bodyOf(fund(amountEuros))).funding,
      fundingOf: (id: string) => bodyOf(client.fund.get({ params: { id } })),
      available: async () => (await bodyOf(client.wallets.get({ params: { id: walletId } }))).availableEuros,
      later: (minutes: number) => bodyOf(client.sandbox.advance({ body: { minutes } })),
    }
  }

  /** The only payment intent of a funding. */
  function intentOf(fundingId: string) {
    const found = [...intents.values()].filter(
      ({ metadata }) => (metadata as { funding_id?: string }).funding_id === fundingId,
    )
    expect(found).toHaveLength(1)
    return found[0] as { id: string; status: string }
  }

  async function tell(
    type: string,
    object: object,
    { secret = EVENTS_SECRET, url = service.url }: { secret?: string; url?: string } = {},
  ) {
    const body = eventOf(type, object).replace('evt_1', `evt_funding_${++events}`)
    const headers = signed(body, secret, clock.real())
    const answer = await fetch(`${url}/rails/funding`, { method: 'POST', headers, body })
    return { status: answer.status, body: (await answer.json()) as { taken?: boolean } }
  }

  const tellDispute = (
    payment_intent: string,
    type = 'charge.dispute.funds_withdrawn',
    to: { url?: string } = {},
  ) => tell(type, { object: 'dispute', payment_intent }, to)

  const eventsOf = async (fundingId: string) =>
    (
      await service.sql<{ event: string }>(
        `select event from events where data ->> 'fundingId' = $1 order by id`,
        [fundingId],
      )
    ).map(({ event }) => event)

  return { aPayer, intentOf, tell, tellDispute, eventsOf }
}
