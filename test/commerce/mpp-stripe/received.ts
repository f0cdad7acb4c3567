import { beforeAll, describe, expect, test } from '@jest/globals'
import { followAcquirerReturns } from '../../../src/commerce/refunds/index.ts'
import type { Context } from '../../../src/kernel/contract/context.ts'
import { serializeChallenge } from '../../../src/mpp/index.ts'
import { acquirerAt, EVENTS_SECRET } from '../../support/cards/stripe.ts'
import { refusal } from '../../support/cards/stripe-double.ts'
import { challengeOf, present } from '../../support/commerce/machine-payer.ts'
import { refundsOf } from '../../support/commerce/refunds.ts'
import { eventsAbout } from '../../support/commerce/requests.ts'
import { aWallet, bodyOf } from '../../support/factories.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'
import { aPayee } from '../payment-required/service.ts'
import { aStripePayer, deliverEvent, double, service } from './service.ts'

const { balance, client, create, get, settlements, urlOf } = await aPayee(service)
const byStripe = { headers: { 'accept-payment': 'stripe/charge' } }
const INTENTS = /^POST payment_intents$/

const credentialFor = async (requestId: string): Promise<string> => {
  const payer = await aStripePayer()
  const challenge = serializeChallenge(await challengeOf(urlOf(requestId), byStripe))
  const { credential } = await bodyOf(
    payer.agentClient.mpp.mint({ body: { intentId: payer.intent.id, challenge, url: urlOf(requestId) } }),
  )
  return String(credential)
}

const intentAt = () => [...double.intents.values()].at(-1) as { id: string; status: string; metadata: object }

/** A request of € 20 that a shared payment token has paid; `news` sends the event of Stripe about it. */
async function aPaidRequest() {
  const { id } = await create({ amountEuros: 20 })
  expect(await present(urlOf(id), await credentialFor(id))).toMatchObject({ status: 200 })
  const intent = intentAt()
  const news = async (type: string, object: object = {}) => {
    const response = await deliverEvent(type, { payment_intent: intent.id, ...object }, EVENTS_SECRET)
    return response.status
  }
  return { id, intent, news }
}

let disputes = 0
const moved = (amount: number) => ({ object: 'balance_transaction', amount, currency: 'eur' })

/** The payer's bank takes € 20 back; `moves` are the amounts in Stripe's balance. */
function aChargeback(payment_intent: string) {
  const id = `dp_${++disputes}`
  return (...moves: number[]) =>
    double.chargebacks.set(id, {
      ...{ id, object: 'dispute', payment_intent, amount: 2_000, currency: 'eur', reason: 'fraudulent' },
      balance_transactions: moves.map(moved),
    })
}

const names = async (id: string) => (await eventsAbout(client, id)).map(({ event }) => event)

describe('a charge whose answer was lost', () => {
  test('is settled as soon as Stripe reports it, and once', async () => {
    const { id } = await create({ amountEuros: 20 })
    const before = await balance()
    const credential = await credentialFor(id)
    double.afterwards(INTENTS, response => response.destroy())
    expect(await present(urlOf(id), credential)).toMatchObject({ status: 504 })
    double.heal()
    expect(await settlements(id)).toMatchObject([{ status: 'charging' }])
    const intent = intentAt()
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => deliverEvent('payment_intent.succeeded', intent, EVENTS_SECRET)),
    )
    expect(answers.map(({ status }) => status)).toContain(200)
    expect((await deliverEvent('payment_intent.succeeded', intent)).status).toBe(200)
    expect(await settlements(id)).toMatchObject([{ status: 'paid', dueAt: null }])
    expect(await balance()).toBe(before + 20)
    expect(await present(urlOf(id), credential)).toMatchObject({ status: 200 })
    await expectVerifiedLedger(client)
  })

  test('is declined as soon as Stripe reports that', async () => {
    const { id } = await create({ amountEuros: 20 })
    const credential = await credentialFor(id)
    const { approves } = double.network
    double.network.approves = async () => false
    double.afterwards(INTENTS, response => response.destroy())
    expect(await present(urlOf(id), credential)).toMatchObject({ status: 504 })
    double.heal()
    double.network.approves = approves
    expect((await deliverEvent('payment_intent.payment_failed', intentAt())).status).toBe(200)
    expect(await settlements(id)).toMatchObject([{ status: 'declined', declineCode: 'card_declined' }])
    expect(await get(id)).toMatchObject({ status: 'open', paidEuros: 0 })
  })
})

describe('a refund that ends later', () => {
  const pending = () => {
    double.afterwards(/^POST refunds$/, response => {
      const [id, refund] = [...double.refunds].at(-1) ?? []
      double.refunds.set(String(id), { ...refund, status: 'pending' })
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(double.refunds.get(String(id))))
    })
  }
  const becomes = (state: object) => {
    const [id, refund] = [...double.refunds].at(-1) ?? []
    double.refunds.set(String(id), { ...refund, ...state })
  }
  const failed = { status: 'failed', failure_reason: 'lost_or_stolen_card' }

  test.each([
    ['succeeds', { status: 'succeeded' }, 'completed', 12],
    ['fails', failed, 'failed', 20],
  ])('is pending, with its money held, until it %s', async (_, state, status, left) => {
    const before = await balance()
    const { id, news } = await aPaidRequest()
    pending()
    const asked = await bodyOf(client.collect.refund({ params: { id }, body: { amountEuros: 8 } }))
    double.heal()
    expect(asked).toMatchObject({ refundingEuros: 8, refunds: [{ status: 'pending' }] })
    expect(await balance()).toBe(before + 12)
    becomes(state)
    expect([await news('refund.updated'), await news('refund.updated')]).toEqual([200, 200])
    expect(await refundsOf(client, id)).toMatchObject([{ status, origin: 'asked' }])
    expect(await get(id)).toMatchObject({ refundingEuros: 0, refundedEuros: 20 - left })
    expect(await balance()).toBe(before + left)
    await expectVerifiedLedger(client)
  })

  test('and failed after it had succeeded is corrected in the ledger, once', async () => {
    const before = await balance()
    const { id, news } = await aPaidRequest()
    await bodyOf(client.collect.refund({ params: { id }, body: {} }))
    expect(await get(id)).toMatchObject({ status: 'refunded' })
    becomes(failed)
    expect([await news('refund.failed'), await news('refund.failed')]).toEqual([200, 200])
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'returned', failure: { code: 'failed' } }])
    expect(await get(id)).toMatchObject({ status: 'paid', refundedEuros: 0 })
    expect(await balance()).toBe(before + 20)
    await expectVerifiedLedger(client)
    expect(await bodyOf(client.collect.refund({ params: { id }, body: {} }))).toMatchObject({
      status: 'refunded',
    })
  })
})

describe('a chargeback', () => {
  test('takes the money out of the wallet once, and gives it back once it is won, in whichever order', async () => {
    const before = await balance()
    const { id, intent, news } = await aPaidRequest()
    const disputed = aChargeback(intent.id)
    disputed()
    expect(await news('charge.dispute.created')).toBe(200)
    expect(await balance()).toBe(before + 20)
    disputed(-2_000)
    const twice = await Promise.all([
      news('charge.dispute.funds_withdrawn'),
      news('charge.dispute.created'),
      news('charge.dispute.updated'),
    ])
    expect(twice).toContain(200)
    expect(await balance()).toBe(before)
    const taken = { status: 'completed', origin: 'network', way: 'card', amountEuros: 20 }
    expect(await refundsOf(client, id)).toMatchObject([
      { ...taken, reason: expect.stringContaining('fraudulent') },
    ])
    expect(await get(id)).toMatchObject({ status: 'refunded', refundedEuros: 20 })
    disputed(-2_000, 2_000)
    expect(await news('charge.dispute.funds_reinstated')).toBe(200)
    expect(await news('charge.dispute.closed')).toBe(200)
    expect(await balance()).toBe(before + 20)
    // An answer that is older than what is booked changes nothing.
    disputed(-2_000)
    expect(await news('charge.dispute.funds_withdrawn')).toBe(200)
    expect(await balance()).toBe(before + 20)
    expect(await get(id)).toMatchObject({ status: 'paid', refundedEuros: 0 })
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'returned', origin: 'network' }])
    expect(await names(id)).toEqual(expect.arrayContaining(['refunded', 'refund_failed']))
    await expectVerifiedLedger(client)
  })

  test('that is won in part leaves the rest with the payer', async () => {
    const before = await balance()
    const { id, intent, news } = await aPaidRequest()
    aChargeback(intent.id)(-2_000, 1_500)
    expect([await news('charge.dispute.closed'), await news('charge.dispute.closed')]).toEqual([200, 200])
    expect(await balance()).toBe(before + 15)
    expect(await get(id)).toMatchObject({ status: 'paid', refundedEuros: 5 })
    await expectVerifiedLedger(client)
  })

  test('that is withdrawn and reinstated more than once is booked with each sum, once, whatever the order', async () => {
    const before = await balance()
    const { id, intent, news } = await aPaidRequest()
    const disputed = aChargeback(intent.id)
    const steps: readonly (readonly [moves: readonly number[], left: number, refunded: number])[] = [
      [[-2_000], 0, 20],
      [[-2_000, 1_500], 15, 5],
      [[-2_000, 1_500, -1_500], 0, 20],
      [[-2_000, 1_500], 0, 20],
      [[-2_000, 1_500, -1_500, 2_000], 20, 0],
      [[-2_000, 1_500, -1_500, 2_000, -700], 13, 7],
      [[-2_000, 1_500, -1_500, 2_000, -700, 200], 15, 5],
      [[-2_000, 1_500, -1_500, 2_000, -700, 200, 500], 20, 0],
    ]
    for (const [moves, left, refundedEuros] of steps) {
      disputed(...moves)
      const told = await Promise.all([1, 2, 3].map(() => news('charge.dispute.updated')))
      expect(told).toContain(200)
      expect(await balance()).toBe(before + left)
      expect(await get(id)).toMatchObject({ refundedEuros })
    }
    await expectVerifiedLedger(client)
  })

  test('of a payment that was refunded, too, is booked in full: the part above it belongs to no payment', async () => {
    const before = await balance()
    const { id, intent, news } = await aPaidRequest()
    await bodyOf(client.collect.refund({ params: { id }, body: { amountEuros: 5 } }))
    aChargeback(intent.id)(-2_000)
    expect([await news('charge.dispute.created'), await news('charge.dispute.created')]).toEqual([200, 200])
    expect(await balance()).toBe(before - 5)
    expect(await get(id)).toMatchObject({ status: 'refunded', refundedEuros: 20 })
    const { data } = await bodyOf(client.refunds.list({ query: { origin: 'network', limit: 2 } }))
    expect(data).toMatchObject([{ amountEuros: 15 }, { transactionId: null, amountEuros: 5 }])
    await expectVerifiedLedger(client)
  })

  test('is of the payment in full once a refund has failed, also if that is known last', async () => {
    const before = await balance()
    const { id, intent, news } = await aPaidRequest()
    await bodyOf(client.collect.refund({ params: { id }, body: { amountEuros: 5 } }))
    const disputed = aChargeback(intent.id)
    disputed(-2_000)
    expect(await news('charge.dispute.created')).toBe(200)
    const [refundId, refund] = [...double.refunds].at(-1) ?? []
    double.refunds.set(String(refundId), { ...refund, status: 'failed' })
    expect([await news('refund.failed'), await news('refund.failed')]).toEqual([200, 200])
    expect(await balance()).toBe(before)
    expect(await get(id)).toMatchObject({ status: 'refunded', refundedEuros: 20 })
    expect(await client.collect.refund({ params: { id }, body: {} })).toMatchObject({
      code: 'nothing_to_refund',
    })
    disputed(-2_000, 2_000)
    expect(await news('charge.dispute.closed')).toBe(200)
    expect(await balance()).toBe(before + 20)
    expect(await get(id)).toMatchObject({ status: 'paid', refundedEuros: 0 })
    await expectVerifiedLedger(client)
  })

  test('of money that is no longer there is owed, and repaid out of the next', async () => {
    const other = await aWallet(client)
    const { id: emptied } = await aWallet(client)
    const { id } = await create({ amountEuros: 20, walletId: emptied })
    expect(await present(urlOf(id), await credentialFor(id))).toMatchObject({ status: 200 })
    const intent = intentAt()
    await bodyOf(
      client.transfers.create({ body: { fromWalletId: emptied, toWalletId: other.id, amountEuros: 15 } }),
    )
    aChargeback(intent.id)(-2_000)
    await deliverEvent('charge.dispute.created', { payment_intent: intent.id })
    const of = async (walletId: string) =>
      (await bodyOf(client.wallets.get({ params: { id: walletId } }))).availableEuros
    expect(await of(emptied)).toBe(0)
    const debt = `select -posted_cents as cents from ledger_accounts where owner_id = $1 and kind = 'receivable'`
    expect(await service.sql(debt, [await ownerOf(id)])).toEqual([{ cents: '1500' }])
    await bodyOf(client.fund.wallet({ params: { id: emptied }, body: { amountEuros: 40 } }))
    expect(await of(emptied)).toBe(25)
    await expectVerifiedLedger(client)
  })

  test('of money that is no longer there, and is won, repays what is owed for it, once', async () => {
    const payee = await aPayee(service)
    const { wallet, client } = payee
    const other = await aWallet(client)
    const { id } = await payee.create({ amountEuros: 20 })
    expect(await present(urlOf(id), await credentialFor(id))).toMatchObject({ status: 200 })
    const body = { fromWalletId: wallet.id, toWalletId: other.id, amountEuros: 15 }
    await bodyOf(client.transfers.create({ body }))
    const { id: payment_intent } = intentAt()
    const disputed = aChargeback(payment_intent)
    const told = async () => (await deliverEvent('charge.dispute.closed', { payment_intent })).status
    disputed(-2_000)
    expect(await told()).toBe(200)
    disputed(-2_000, 2_000)
    expect([await told(), await told()]).toEqual([200, 200])
    expect(await payee.balance()).toBe(5)
    expect(await bodyOf(client.billing.balance({}))).toMatchObject({ owedEuros: 0, availableEuros: 20 })
    await expectVerifiedLedger(client)
  })

  test('leaves a debt that a refund repays, if the refund failed after it had succeeded', async () => {
    const payee = await aPayee(service)
    const { client } = payee
    const { id } = await payee.create({ amountEuros: 20 })
    expect(await present(urlOf(id), await credentialFor(id))).toMatchObject({ status: 200 })
    const { id: payment_intent } = intentAt()
    await bodyOf(client.collect.refund({ params: { id }, body: { amountEuros: 8 } }))
    aChargeback(payment_intent)(-2_000)
    expect((await deliverEvent('charge.dispute.created', { payment_intent })).status).toBe(200)
    expect(await bodyOf(client.billing.balance({}))).toMatchObject({ owedEuros: 8, availableEuros: 0 })
    const [refundId, refund] = [...double.refunds].at(-1) ?? []
    double.refunds.set(String(refundId), { ...refund, status: 'failed' })
    expect((await deliverEvent('refund.failed', { payment_intent })).status).toBe(200)
    expect(await bodyOf(client.billing.balance({}))).toMatchObject({ owedEuros: 0, availableEuros: 0 })
    await expectVerifiedLedger(client)
  })

  test('is heard of again while Stripe does not say more about it', async () => {
    const before = await balance()
    const { intent, news } = await aPaidRequest()
    aChargeback(intent.id)(-2_000)
    double.break(/^GET disputes$/, refusal(500, { message: 'Try again.' }))
    expect(await news('charge.dispute.created')).toBe(504)
    double.heal()
    expect(await balance()).toBe(before + 20)
    expect(await news('charge.dispute.created')).toBe(200)
    expect(await balance()).toBe(before)
  })
})

describe('a refund that was made in Stripe’s dashboard', () => {
  const refundedAt = (intentId: string, amount: number) => double.fundings.refund(intentId, amount)

  test('leaves the wallet once, and comes back if it fails', async () => {
    const before = await balance()
    const { id, intent, news } = await aPaidRequest()
    const refundId = refundedAt(intent.id, 800)
    for (const type of ['refund.created', 'refund.updated']) expect(await news(type)).toBe(200)
    expect(await balance()).toBe(before + 12)
    expect(await refundsOf(client, id)).toMatchObject([
      {
        status: 'completed',
        origin: 'network',
        amountEuros: 8,
        reason: expect.stringContaining('at the acquirer'),
      },
    ])
    expect(await get(id)).toMatchObject({ status: 'paid', refundedEuros: 8 })
    const asked = await client.collect.refund({ params: { id }, body: { amountEuros: 12.01 } })
    expect(asked).toMatchObject({ code: 'refund_above_received' })
    double.refunds.set(refundId, { ...double.refunds.get(refundId), status: 'failed' })
    for (const type of ['refund.failed', 'refund.updated']) expect(await news(type)).toBe(200)
    expect(await balance()).toBe(before + 20)
    expect(await refundsOf(client, id)).toMatchObject([{ status: 'returned', failure: { code: 'failed' } }])
    expect(await get(id)).toMatchObject({ refundedEuros: 0 })
    await expectVerifiedLedger(client)
  })
})

describe('what Stripe returned while its events were lost', () => {
  /** As the schedule does every hour, which asks only about live mode. */
  const watch = async () => {
    const asked: string[] = []
    await followAcquirerReturns(service.sql as Context['sql'], {
      systems: { acquirer: () => acquirerAt(double.url, double.seller.profile) },
      service: {
        async runFor(_, operation, { body }) {
          const { reference } = body as { reference: string }
          asked.push(`${operation} ${reference}`)
          const intent = [...double.intents.values()].find(one => referenceOf(one) === reference)
          await deliverEvent('charge.dispute.updated', { payment_intent: intent?.id }, EVENTS_SECRET)
        },
      },
    })
    return asked
  }
  const referenceOf = (intent: object) =>
    (intent as { metadata?: { reference?: string } }).metadata?.reference ?? ''

  test('is found by the hourly list, and booked once with them', async () => {
    await watch()
    const before = await balance()
    const [charged, refunded, failed, quiet] = [
      await aPaidRequest(),
      await aPaidRequest(),
      await aPaidRequest(),
      await aPaidRequest(),
    ]
    const disputed = aChargeback(charged.intent.id)
    disputed(-2_000)
    double.fundings.refund(refunded.intent.id, 500)
    await bodyOf(client.collect.refund({ params: { id: failed.id }, body: {} }))
    await bodyOf(client.collect.refund({ params: { id: quiet.id }, body: { amountEuros: 1 } }))
    const ofFailed = [...double.refunds].find(([, one]) => one.payment_intent === failed.intent.id)
    const [refundId = '', refund] = ofFailed ?? []
    double.refunds.set(refundId, { ...refund, status: 'failed', failure_reason: 'unknown' })
    const found = await watch()
    const expected = [charged, refunded, failed].map(
      ({ intent }) => `settlements.notice ${referenceOf(intent)}`,
    )
    expect(found.toSorted()).toEqual(expected.toSorted())
    expect(await balance()).toBe(before + 80 - 20 - 5 - 1)
    expect(await charged.news('charge.dispute.funds_withdrawn')).toBe(200)
    expect(await watch()).toEqual([])
    disputed(-2_000, 1_500)
    expect(await watch()).toEqual([`settlements.notice ${referenceOf(charged.intent)}`])
    expect(await watch()).toEqual([])
    expect(await balance()).toBe(before + 80 - 5 - 5 - 1)
    await expectVerifiedLedger(client)
  })

  test('is looked for again if Stripe does not answer', async () => {
    double.break(/^GET disputes$/, refusal(500, { message: 'Not now.' }))
    await expect(watch()).rejects.toThrow('did not answer')
    double.heal()
    expect(await watch()).toEqual([])
  })
})

describe('the door of these events', () => {
  let paid!: Awaited<ReturnType<typeof aPaidRequest>>
  beforeAll(async () => {
    paid = await aPaidRequest()
  })

  test('refuses what Stripe has not signed', async () => {
    aChargeback(paid.intent.id)(-2_000)
    const forged = await deliverEvent(
      'charge.dispute.created',
      { payment_intent: paid.intent.id },
      'whsec_other',
    )
    expect(forged.status).toBe(401)
    expect(await get(paid.id)).toMatchObject({ status: 'paid' })
  })

  test('accepts what concerns no request of anyone, and does nothing', async () => {
    const metadata = { reference: 'x'.repeat(43), owner: 'owner_of_nobody', mode: 'test' }
    double.intents.set('pi_of_nobody', { id: 'pi_of_nobody', status: 'succeeded', metadata })
    const events = ['payment_intent.succeeded', 'charge.dispute.created', 'payout.paid']
    for (const type of events)
      expect(
        (await deliverEvent(type, { id: 'pi_of_nobody', payment_intent: 'pi_of_nobody', metadata })).status,
      ).toBe(200)
  })
})

async function ownerOf(requestId: string): Promise<string> {
  const [request] = await service.sql('select owner_id from payment_requests where id = $1', [requestId])
  return String(request?.owner_id)
}
