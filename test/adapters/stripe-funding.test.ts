import { afterEach, describe, expect, test } from '@jest/globals'
import { stripeFunding } from '../../src/adapters/stripe/funding/stripe-funding.ts'
import type { FundingCharge } from '../../src/ports/funding-rail.ts'
import { clock, days, minutes } from '../../src/values/clock.ts'
import { newId } from '../../src/values/ids.ts'
import { cents } from '../../src/values/money.ts'
import { EVENTS_SECRET, eventOf, SECRET_KEY, signed } from '../support/cards/stripe.ts'
import { refusal, startStripeDouble } from '../support/cards/stripe-double.ts'
import type { EnteredMethod } from '../support/cards/stripe-fundings.ts'

const stripe = await startStripeDouble()
const { fundings } = stripe
const account = { secretKey: SECRET_KEY, webhookSecrets: [EVENTS_SECRET], apiUrl: stripe.url }
const rail = stripeFunding(account)

const INTENTS = /^POST payment_intents$/
const usual = { ...fundings.bank }
const returnUrl = 'https://pay.example/console/fundings/funding_1'

afterEach(() => {
  stripe.heal()
  Object.assign(fundings.bank, usual)
})

async function aPage(ownerId = 'customer_1') {
  const call = { reference: newId('setup'), requestId: newId('request') }
  const page = await rail.setUp({ ownerId, returnUrl: 'https://pay.example/console/billing' }, call)
  if (page === 'silent' || 'refused' in page) throw new Error(JSON.stringify(page))
  return page
}

const instrumentOf = (token: string, ownerId = 'customer_1') =>
  rail.instrumentOf(token, { ownerId, reference: newId('tokencheck'), requestId: newId('request') })

async function anInstrument(entered: EnteredMethod = { type: 'card', last4: '4242' }) {
  const { token } = await aPage()
  fundings.enter(token, entered)
  const instrument = await instrumentOf(token)
  if (typeof instrument === 'string') throw new Error(instrument)
  return instrument
}

const DEBIT = { type: 'sepa_debit', last4: '3000' } as const

/** A charge of 25 euros that began this long ago, and calls about it. */
async function aCharge(entered?: EnteredMethod, ageMs = 0) {
  const now = clock.real()
  const { token } = await anInstrument(entered)
  const charge: FundingCharge = {
    token,
    amountCents: cents(2_500n),
    madeAt: new Date(now.getTime() - ageMs),
  }
  const call = { reference: newId('funding'), requestId: newId('request'), returnUrl }
  const intents = () =>
    [...stripe.intents.values()].filter(
      ({ metadata }) => (metadata as { funding_id?: string }).funding_id === call.reference,
    )
  return {
    charge: () => rail.charge(charge, call),
    stateOf: () => rail.stateOf(charge, { ...call, now }),
    intents,
    intentId: () => String(intents()[0]?.id),
    reference: call.reference,
  }
}

describe('a page of Stripe', () => {
  test('takes a card or a bank account of one owner, and leads back to the console', async () => {
    const page = await aPage()
    expect(page).toMatchObject({ url: `https://checkout.stripe.com/c/pay/${page.token}` })
    expect(stripe.to(/^POST checkout\/sessions$/).at(-1)?.params).toMatchObject({
      mode: 'setup',
      allowed_payment_method_types: { 0: 'card', 1: 'sepa_debit' },
      client_reference_id: 'customer_1',
      success_url: 'https://pay.example/console/billing?token={CHECKOUT_SESSION_ID}',
    })
    expect(await instrumentOf(page.token)).toBe('incomplete')
    fundings.enter(page.token, DEBIT)
    expect(await instrumentOf(page.token)).toMatchObject({ kind: 'sepa_debit', brand: null, last4: '3000' })
    expect(await instrumentOf(page.token, 'customer_2')).toBe('unknown')
  })

  test.each(['cs_of_nobody', 'pm_funding_1', 'tok_visa'])('is not that of the token %s', async token => {
    expect(await instrumentOf(token)).toBe('unknown')
  })

  test('is not made if Stripe refuses it, and the refusal is told', async () => {
    const message = 'The payment method type "sepa_debit" is not activated.'
    stripe.break(/^POST checkout\/sessions$/, refusal(400, { message }))
    const call = { reference: newId('setup'), requestId: newId('request') }
    expect(await rail.setUp({ ownerId: 'customer_1', returnUrl }, call)).toEqual({ refused: message })
  })

  test('gives what is detached once it is forgotten, however often', async () => {
    const { token } = await anInstrument()
    const call = { reference: newId('paymentmethod'), requestId: newId('request') }
    for (const _ of [1, 2]) expect(await rail.forget(token, call)).toBe('forgotten')
    stripe.break(/detach$/, (_, response) => void response.destroy())
    expect(await rail.forget(token, call)).toBe('silent')
  })
})

describe('a charge', () => {
  test('of a card settles at once, and once for each reference', async () => {
    const { charge, intents } = await aCharge()
    for (const _ of [1, 2]) expect(await charge()).toEqual({ status: 'settled' })
    expect(intents()).toMatchObject([{ amount: 2_500, currency: 'eur', status: 'succeeded', mandate: null }])
  })

  test('of a bank account is pending for days, by its mandate', async () => {
    const { charge, stateOf, intents, intentId } = await aCharge(DEBIT)
    expect(await charge()).toMatchObject({ status: 'pending', askAgainAt: expect.any(Date) })
    expect(intents()).toMatchObject([{ status: 'processing', mandate: expect.stringMatching(/^mandate_/) }])
    expect(await stateOf()).toMatchObject({ status: 'pending' })
    fundings.settle(intentId(), { status: 'succeeded' })
    expect(await stateOf()).toEqual({ status: 'settled' })
  })

  test('that the payer’s bank returns within days fails with its reason', async () => {
    const { charge, stateOf, intentId } = await aCharge(DEBIT)
    await charge()
    const message = 'The customer’s account has insufficient funds.'
    fundings.settle(intentId(), { code: 'insufficient_funds', message })
    expect(await stateOf()).toEqual({ status: 'failed', reason: { code: 'insufficient_funds', message } })
  })

  test('that is declined fails with the code of the card’s bank', async () => {
    const declined = { code: 'card_declined', decline_code: 'lost_card', message: 'Your card was declined.' }
    fundings.bank.offSession = () => declined
    const { charge, stateOf } = await aCharge()
    const failed = { status: 'failed', reason: { code: 'lost_card', message: declined.message } }
    expect([await charge(), await stateOf()]).toEqual([failed, failed])
  })

  test('that needs the payer gives an address, and fails once they refuse', async () => {
    const code = 'authentication_required'
    fundings.bank.offSession = () => ({ code, message: 'The payer must authenticate.' })
    const { charge, stateOf, intentId, intents } = await aCharge()
    const url = `https://hooks.stripe.com/3d_secure/${'pi'}`
    const asked = { status: 'requires_action', nextAction: { type: 'redirect', url: expect.any(String) } }
    expect(await charge()).toMatchObject(asked)
    expect(stripe.to(/confirm$/).at(-1)?.params).toMatchObject({ return_url: returnUrl })
    expect(await stateOf()).toMatchObject({ nextAction: { url: expect.stringContaining(url) } })
    fundings.settle(intentId(), { code: 'payment_intent_authentication_failure', message: 'Refused.' })
    expect(await stateOf()).toMatchObject({ status: 'failed', reason: { message: 'Refused.' } })
    expect(intents()).toHaveLength(1)
  })

  test('that waits for the payer for a day is cancelled, unless it has gone on', async () => {
    fundings.bank.offSession = () => ({ status: 'requires_action' })
    const left = await aCharge(undefined, days(1))
    await left.charge()
    expect(await left.stateOf()).toMatchObject({ status: 'failed', reason: { code: 'action_not_completed' } })
    expect(left.intents()).toMatchObject([{ status: 'canceled' }])
    const taken = await aCharge(undefined, days(1))
    fundings.bank.offSession = usual.offSession
    stripe.break(/cancel$/, (_, response) => {
      fundings.settle(taken.intentId(), { status: 'succeeded' })
      response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":{"message":"No."}}')
    })
    fundings.bank.offSession = () => ({ status: 'requires_action' })
    await taken.charge()
    expect(await taken.stateOf()).toEqual({ status: 'settled' })
  })

  test('whose payer the bank wants to ask each time is asked for a day, and then ended', async () => {
    const asks = { code: 'authentication_required', message: 'Ask the holder.' }
    fundings.bank.offSession = () => asks
    fundings.bank.withPayer = () => asks
    const fresh = await aCharge()
    await fresh.charge()
    const old = await aCharge(undefined, days(1))
    await old.charge()
    const before = stripe.to(/confirm$/).length
    stripe.forgetKeys()
    expect(await old.stateOf()).toMatchObject({ status: 'failed', reason: { code: 'action_not_completed' } })
    expect(old.intents()).toMatchObject([{ status: 'canceled' }])
    expect(stripe.to(/confirm$/)).toHaveLength(before)
    await fresh.stateOf()
    expect(stripe.to(/confirm$/)).toHaveLength(before + 1)
  })

  test('that Stripe refuses fails with its words', async () => {
    const { charge } = await aCharge()
    const message = 'Amount must be at least €0.50 eur'
    stripe.break(INTENTS, refusal(400, { code: 'amount_too_small', message }))
    expect(await charge()).toEqual({ status: 'failed', reason: { code: 'amount_too_small', message } })
  })

  test.each([401, 403, 409, 429, 500])('is open if Stripe answers %d, and is made later', async status => {
    const { charge, stateOf, intents } = await aCharge()
    stripe.break(INTENTS, refusal(status, { message: 'Not now.' }))
    expect(await charge()).toEqual({ status: 'silent' })
    stripe.heal()
    expect(await stateOf()).toEqual({ status: 'settled' })
    expect(intents()).toHaveLength(1)
  })

  test('whose answer was lost is found, also once Stripe has forgotten its key', async () => {
    const { charge, stateOf, intents } = await aCharge()
    stripe.afterwards(INTENTS, response => response.destroy())
    expect(await charge()).toEqual({ status: 'silent' })
    stripe.heal()
    stripe.forgetKeys()
    expect(await stateOf()).toEqual({ status: 'settled' })
    expect(intents()).toHaveLength(1)
    const { gte = 0, lte = 0 } = {
      ...(stripe.to(/^GET payment_intents$/).at(-1)?.params.created as object),
    } as {
      gte?: string
      lte?: string
    }
    expect(Number(lte) - Number(gte)).toBe(22 * 60 * 60)
  })

  test.each([400, 404, 500])(
    'that was made stays open if Stripe answers a question with %d',
    async status => {
      const { charge, stateOf } = await aCharge(DEBIT, days(3))
      await charge()
      stripe.break(/^GET payment_intents$/, refusal(status, { message: 'No such customer.' }))
      expect(await stateOf()).toEqual({ status: 'silent' })
    },
  )

  test('to the token of another processor fails, and the token can be forgotten', async () => {
    const call = { reference: newId('funding'), requestId: newId('request'), returnUrl }
    const charge = { token: 'tok_visa', amountCents: cents(2_500n), madeAt: clock.real() }
    const failed = { status: 'failed', reason: { code: 'payment_method_unknown' } }
    expect(await rail.charge(charge, call)).toMatchObject(failed)
    expect(await rail.stateOf(charge, { ...call, now: clock.real() })).toMatchObject(failed)
    expect(await rail.forget('tok_visa', call)).toBe('forgotten')
  })

  test('that never reached Stripe is not made once its key may be forgotten', async () => {
    const { stateOf, intents } = await aCharge(undefined, minutes(21 * 60))
    expect(await stateOf()).toEqual({ status: 'unknown' })
    expect(intents()).toEqual([])
  })
})

describe('money that the payer’s bank takes back', () => {
  test('is what the disputes have moved, until it is given back', async () => {
    const { charge, stateOf, intentId, reference } = await aCharge()
    const since = new Date(clock.real().getTime() - days(1))
    await charge()
    const dispute = fundings.takeBack(intentId(), 1_500, 'fraudulent')
    const expectSums = async (takenCents: bigint, givenCents: bigint, code = 'fraudulent') => {
      const sums = { takenCents, givenCents }
      expect(await stateOf()).toMatchObject({ status: 'returned', ...sums, reason: { code } })
      expect(await rail.returnsSince(since)).toContainEqual({ reference, ...sums })
    }
    await expectSums(1_500n, 0n)
    fundings.giveBack(dispute, 600)
    await expectSums(1_500n, 600n)
    fundings.giveBack(dispute, -600)
    await expectSums(2_100n, 600n)
    fundings.giveBack(dispute)
    await expectSums(2_100n, 2_100n)
  })

  test.each([{ status: 'failed' }, { status: 'canceled', failure_balance_transaction: 'txn_back' }])(
    'is what was refunded in the dashboard, too, until such a refund is $status',
    async back => {
      const { charge, stateOf, intentId } = await aCharge()
      await charge()
      const id = fundings.refund(intentId(), 1_000)
      const code = 'refunded'
      expect(await stateOf()).toMatchObject({
        status: 'returned',
        takenCents: 1_000n,
        givenCents: 0n,
        reason: { code },
      })
      const before = stripe.refunds.get(id)
      stripe.refunds.set(id, { ...before, ...back })
      expect(await stateOf()).toMatchObject({ status: 'returned', takenCents: 1_000n, givenCents: 1_000n })
      stripe.refunds.set(id, { ...before, status: 'canceled', failure_balance_transaction: null })
      expect(await stateOf()).toEqual({ status: 'settled' })
    },
  )

  test('is unknown while Stripe does not answer', async () => {
    stripe.break(/^GET disputes$/, refusal(500, { message: 'Not now.' }))
    expect(await rail.returnsSince(clock.real())).toBeNull()
  })
})

describe('an event', () => {
  const read = (type: string, object: object, secret = EVENTS_SECRET) => {
    const body = eventOf(type, object)
    return rail.read(Buffer.from(body), signed(body, secret, clock.real()), clock.real())
  }

  test('about a payment intent, its charge or its dispute names the funding', async () => {
    const { charge, intents, intentId, reference } = await aCharge()
    await charge()
    const notice = { kind: 'notice', reference }
    expect(await read('payment_intent.succeeded', intents()[0] ?? {})).toEqual(notice)
    const dispute = { object: 'dispute', id: 'dp_1', payment_intent: intentId(), metadata: {} }
    expect(await read('charge.dispute.created', dispute)).toEqual(notice)
    stripe.break(/^GET payment_intents\//, refusal(500, { message: 'Not now.' }))
    expect(await read('charge.dispute.created', dispute)).toEqual({ kind: 'unanswered' })
  })

  test('about anything else is ignored', async () => {
    const other = { object: 'payment_intent', metadata: { reference: 'challenge_1' } }
    expect(await read('payment_intent.succeeded', other)).toEqual({ kind: 'ignored' })
    expect(await read('issuing_card.updated', { object: 'issuing.card' })).toEqual({ kind: 'ignored' })
    const unknown = { object: 'dispute', payment_intent: 'pi_of_nobody' }
    expect(await read('charge.dispute.created', unknown)).toEqual({ kind: 'ignored' })
  })

  test('with another signature, or that is none, is not read', async () => {
    expect(await read('payment_intent.succeeded', {}, 'whsec_another1234')).toMatchObject({
      kind: 'unsigned',
    })
    const body = Buffer.from('{}')
    const headers = signed('{}', EVENTS_SECRET, clock.real())
    expect(await rail.read(body, headers, clock.real())).toMatchObject({ kind: 'unreadable' })
  })
})
