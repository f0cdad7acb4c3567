import { describe, expect } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { startStripeDouble } from '../../support/cards/stripe-double.ts'
import { clientAt } from '../../support/client.ts'
import { aKey, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { CARD, fundingByStripe, stripePayers } from '../../support/money/stripe-payers.ts'
import { killAt } from '../../support/processes/kill-at.ts'
import { IN_GERMANY } from '../../support/services/settings.ts'
import { testKills } from '../../support/tier.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const stripe = await startStripeDouble()
const { fundings } = stripe
const env = { ...fundingByStripe(stripe.url), ...IN_GERMANY }
const service = await startTestService({ env })
const { aPayer, intentOf, tell, tellDispute, eventsOf } = stripePayers(service, stripe)

type Payer = Awaited<ReturnType<typeof aPayer>>

const kill = (when: string, work: (url: string) => Promise<unknown>) => killAt(service, when, work, env)

const keyOf = async ({ client }: Payer) => String((await aKey(client, { environment: 'live' })).key)

/** Calls look old enough to be recovered. */
const makeOld = () =>
  service.sql(`update idempotency_keys set created_at = created_at - interval '3 minutes'`)

async function isCharged(when: string): Promise<void> {
  const payer = await aPayer()
  const token = await keyOf(payer)
  const idempotencyKey = newId('key')
  const fundAt = (url: string) =>
    clientAt({ url, token }).fund.create({ body: payer.fundingBody(), idempotencyKey })
  await kill(when, fundAt)
  await makeOld()
  const { funding } = await bodyOf(fundAt(service.url))
  await tell('payment_intent.succeeded', intentOf(funding.id))
  expect((await payer.fundingOf(funding.id)).status).toBe('settled')
  expect(await payer.available()).toBe(25)
  expect((await bodyOf(payer.client.fund.list({}))).data).toHaveLength(1)
  await expectVerifiedLedger(payer.client)
}

async function isReturned(isGivenBack: boolean): Promise<void> {
  const payer = await aPayer()
  const { id } = await payer.funded()
  const intent = intentOf(id)
  const dispute = fundings.takeBack(intent.id, 2_500)
  const status = isGivenBack ? 'reinstated' : 'reversed'
  if (isGivenBack) {
    await tellDispute(intent.id)
    fundings.giveBack(dispute)
  }
  const tellAt = (url: string) => tellDispute(intent.id, 'charge.dispute.closed', { url })
  await kill(`before update on fundings for each row when (new.status = '${status}')`, tellAt)
  await tellAt(service.url)
  expect((await payer.fundingOf(id)).status).toBe(status)
  expect(await payer.available()).toBe(isGivenBack ? 25 : 0)
  expect((await eventsOf(id)).filter(event => event === `funding.${status}`)).toHaveLength(1)
  await expectVerifiedLedger(payer.client)
}

async function isAdded(): Promise<void> {
  const payer = await aPayer()
  const key = await keyOf(payer)
  const { token } = await bodyOf(payer.client.billing.setUpPaymentMethod())
  fundings.enter(String(token), CARD)
  const body = { token: String(token), holder: 'Ada King' }
  const addAt = (url: string) => clientAt({ url, token: key }).billing.addPaymentMethod({ body })
  await kill('before insert on payment_methods for each row', addAt)
  expect((await addAt(service.url)).status).toBe(201)
  expect((await bodyOf(payer.client.billing.paymentMethods({}))).data).toHaveLength(2)
}

async function isRemoved(): Promise<void> {
  const payer = await aPayer()
  const token = await keyOf(payer)
  const params = { id: payer.paymentMethodId }
  const removeAt = (url: string) => clientAt({ url, token }).billing.removePaymentMethod({ params })
  await kill(`before update on payment_methods for each row when (new.status = 'removed')`, removeAt)
  expect((await removeAt(service.url)).status).toBe(204)
}

describe('a process that is killed', () => {
  testKills({
    'before it records a charge charges once': () =>
      isCharged(`before update on fundings for each row when (new.status = 'settled')`),
    'before it charges charges once': () => isCharged('before insert on fundings for each row'),
    'before it records a return takes the money once': () => isReturned(false),
    'before it records a won chargeback gives the money once': () => isReturned(true),
    'before it records a payment method adds it once': isAdded,
    'before it records a removal removes it': isRemoved,
  })
})
