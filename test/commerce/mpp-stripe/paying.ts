import { expect, test } from '@jest/globals'
import { balanceOf, intentOf, pay } from '../../support/commerce/payers.ts'
import { bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import {
  aStripePayer,
  askIssuer,
  authorized,
  cleared,
  credentialOf,
  double,
  merchantFor,
  tokens,
  transactionsOf,
} from './service.ts'

test('a merchant made with mppx is paid by a shared payment token of exactly its challenge', async () => {
  const payer = await aStripePayer()
  const before = await balanceOf(payer)
  const merchant = await merchantFor({ externalId: 'order-7' })
  const answer = await bodyOf(pay(payer, merchant.url))
  expect(answer).toMatchObject({ merchant_status: 200, merchant_body: { report: 42 } })
  expect([answer.note, typeof answer.receipt]).toEqual([undefined, 'string'])

  const token = tokens().at(-1)
  expect(token).toMatchObject({
    status: 'deactivated',
    deactivated_reason: 'consumed',
    seller_details: { network_business_profile: double.seller.profile },
    usage_limits: { currency: 'eur', max_amount: 2_000 },
  })
  const { expires_at } = (token as { usage_limits: { expires_at: number } }).usage_limits
  const inSeconds = expires_at - Date.now() / 1_000
  expect(inSeconds > 60 && inSeconds <= 300).toBe(true)

  expect(await credentialOf(payer)).toMatchObject({
    status: 'consumed',
    outcomeBy: 'merchant',
    network: 'stripe',
    merchantName: null,
    amountEuros: 20,
  })
  const [paid] = (
    await bodyOf(payer.client.authorizations.list({ params: { id: payer.card.id }, query: {} }))
  ).data
  expect(paid).toMatchObject({ intentId: payer.intent.id })
  const authorization = `iauth_${[...double.intents.keys()].at(-1)}`
  await authorized(authorization, payer.processorCardId, 2_000)
  await cleared(authorization, payer.processorCardId, 2_000)
  expect(await transactionsOf(payer)).toMatchObject([{ type: 'mpp', status: 'completed', amountEuros: 20 }])
  expect(await balanceOf(payer)).toMatchObject({
    heldEuros: 0,
    availableEuros: before.availableEuros,
  })
  expect(await intentOf(payer)).toMatchObject({ status: 'completed' })
  await expectVerifiedLedger(payer.client)
})

test('a price in dollars is shared in dollars, and the network’s euros meet the same payment', async () => {
  // The network's rate has no margin, and ours has a large one.
  const payer = await aStripePayer(20, { conversionMarginPercent: 20 })
  const merchant = await merchantFor({ amount: '11.60', currency: 'usd' })
  double.network.approves = ({ card, amount, paymentIntent }) =>
    askIssuer(`iauth_${paymentIntent}`, card, Math.round(amount / 1.16))
  expect(await pay(payer, merchant.url)).toMatchObject({ status: 200 })
  double.network.approves = ({ card, amount, paymentIntent }) =>
    askIssuer(`iauth_${paymentIntent}`, card, amount)
  expect(tokens().at(-1)).toMatchObject({ usage_limits: { currency: 'usd', max_amount: 1_160 } })
  expect(await credentialOf(payer)).toMatchObject({ status: 'consumed', conversion: { currency: 'USD' } })
  expect(await transactionsOf(payer)).toHaveLength(1)
})

test('a price in dollars that the network converts to more than is held is declined, and nothing is paid', async () => {
  const payer = await aStripePayer(20, { conversionMarginPercent: 0 })
  const before = await balanceOf(payer)
  const merchant = await merchantFor({ amount: '11.60', currency: 'usd' })
  let isApproved: boolean | undefined
  double.network.approves = async ({ card, paymentIntent }) => {
    isApproved = await askIssuer(`iauth_${paymentIntent}`, card, 1_020)
    return isApproved
  }
  expect((await pay(payer, merchant.url)).status).not.toBe(200)
  double.network.approves = ({ card, amount, paymentIntent }) =>
    askIssuer(`iauth_${paymentIntent}`, card, amount)
  expect(isApproved).toBe(false)
  expect(await balanceOf(payer)).toEqual(before)
  await expectVerifiedLedger(payer.client)
})

test('a price in dollars is found by its dollars, whatever euros the network makes of them', async () => {
  const payer = await aStripePayer(20, { conversionMarginPercent: 20 })
  const merchant = await merchantFor({ amount: '11.60', currency: 'usd' })
  const { approves } = double.network
  const inDollars = (merchant_amount: number) => ({ merchant_amount, merchant_currency: 'usd' })
  double.network.approves = async ({ card, amount, paymentIntent }) => {
    await askIssuer('iauth_other_dollars', card, 1_000, inDollars(1_150))
    const token = { id: 'intok_of_the_acquirer', object: 'issuing.token' }
    return askIssuer(`iauth_${paymentIntent}`, card, 1_150, { ...inDollars(amount), token })
  }
  expect(await pay(payer, merchant.url)).toMatchObject({ status: 200 })
  double.network.approves = approves
  const { data } = await bodyOf(
    payer.client.authorizations.list({ params: { id: payer.card.id }, query: {} }),
  )
  const [paid] = data.filter(({ intentId }) => intentId === payer.intent.id)
  expect(paid).toMatchObject({ original: { amount: '11.60', currency: 'USD' }, approvedEuros: 11.5 })
})

test('a payment that Stripe declines without asking is not paid at once, and the intent can be paid again', async () => {
  const payer = await aStripePayer()
  const before = await balanceOf(payer)
  const merchant = await merchantFor()
  const { approves } = double.network
  double.network.approves = async ({ card, amount, paymentIntent }) => {
    await authorized(`iauth_${paymentIntent}`, card, amount, false)
    return false
  }
  expect((await pay(payer, merchant.url)).status).not.toBe(200)
  double.network.approves = approves
  expect(await credentialOf(payer)).toMatchObject({ status: 'void', outcomeBy: 'network' })
  expect(await intentOf(payer)).toMatchObject({ status: 'approved' })
  expect(await balanceOf(payer)).toEqual(before)
  expect(await pay(payer, merchant.url)).toMatchObject({ status: 200 })
  await expectVerifiedLedger(payer.client)
})

test('a policy that allows only the method card is told that this card cannot pay by it', async () => {
  const payer = await aStripePayer(20, { mppMethods: ['card'] })
  const merchant = await merchantFor()
  expect(await pay(payer, merchant.url)).toMatchObject({
    status: 403,
    code: 'payment_denied',
    error: expect.stringContaining('mppMethods'),
  })
  expect(await credentialOf(payer)).toBeUndefined()
})

test('a check of the card before the network reports the shared payment is not taken for it', async () => {
  const payer = await aStripePayer()
  const merchant = await merchantFor()
  const { approves } = double.network
  double.network.approves = async () => true
  expect(await pay(payer, merchant.url)).toMatchObject({ status: 200 })
  double.network.approves = approves
  expect(await askIssuer('iauth_check', payer.processorCardId, 0, { name: '127.0.0.1' })).toBe(true)
  const authorization = `iauth_${[...double.intents.keys()].at(-1)}`
  await authorized(authorization, payer.processorCardId, 2_000)
  await cleared(authorization, payer.processorCardId, 2_000)
  const { data } = await bodyOf(payer.client.transactions.list({ query: { cardId: payer.card.id } }))
  expect(data).toMatchObject([{ type: 'mpp', status: 'completed', amountEuros: 20 }])
  await expectVerifiedLedger(payer.client)
})

test('another payment of the card meanwhile is not taken for the shared one', async () => {
  const payer = await aStripePayer()
  const merchant = await merchantFor()
  let isOtherApproved: boolean | undefined
  double.network.approves = async ({ card, amount, paymentIntent }) => {
    isOtherApproved = await askIssuer('iauth_other', card, 1_900)
    return askIssuer(`iauth_${paymentIntent}`, card, amount)
  }
  expect(await pay(payer, merchant.url)).toMatchObject({ status: 200 })
  double.network.approves = ({ card, amount, paymentIntent }) =>
    askIssuer(`iauth_${paymentIntent}`, card, amount)
  expect(await transactionsOf(payer)).toMatchObject([{ type: 'mpp', amountEuros: 20 }])
  const { data } = await bodyOf(
    payer.client.authorizations.list({ params: { id: payer.card.id }, query: {} }),
  )
  expect(data.map(({ intentId }) => intentId).filter(id => id === payer.intent.id)).toHaveLength(1)
  expect(data).toHaveLength(2)
  expect(typeof isOtherApproved).toBe('boolean')
})
