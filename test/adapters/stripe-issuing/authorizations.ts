import { describe, expect, test } from '@jest/globals'
import type { CardReply } from '../../../src/ports/card-processor.ts'
import { cents } from '../../../src/values/money.ts'
import { requestedAt } from '../../support/cards/sandbox.ts'
import {
  anAuthorization,
  entry,
  merchant,
  merchantData,
  messageOf,
  readEvent,
  stripeAt,
  updateOf,
} from '../../support/cards/stripe.ts'

const processor = stripeAt()
const REQUEST = 'issuing_authorization.request'
const CREATED = 'issuing_authorization.created'

const asked = (amount: number, more = {}) =>
  anAuthorization({
    amount: 0,
    approved: false,
    request_history: [],
    pending_request: {
      amount,
      currency: 'eur',
      is_amount_controllable: false,
      merchant_amount: 2_900,
      merchant_currency: 'usd',
    },
    ...more,
  })

describe('a request for authorization by Stripe', () => {
  test('is a question about one card, in the euros of the card', () => {
    expect(messageOf(REQUEST, asked(2_500))).toEqual({
      id: 'evt_1',
      processorCardId: 'ic_1',
      sentAt: requestedAt,
      content: {
        kind: 'authorization',
        authorizationId: 'iauth_1',
        ask: 0,
        amountCents: 2_500n,
        partialAllowed: false,
        merchant,
        original: { amount: '29.00', currency: 'USD' },
      },
    })
  })

  test.each([
    ['usd', 2_900, { amount: '29.00', currency: 'USD' }],
    ['jpy', 2_900, { amount: '2900', currency: 'JPY' }],
    ['kwd', 2_900, { amount: '2.900', currency: 'KWD' }],
    ['isk', 2_900, { amount: '29', currency: 'ISK' }],
    ['mga', 2_900, { amount: '2900.00', currency: 'MGA' }],
    ['eur', 2_500, undefined],
    [null, null, undefined],
  ])('in %s has the amount of the merchant, by the units of Stripe', (currency, amount, original) => {
    const pending_request = {
      amount: 2_500,
      currency: 'eur',
      is_amount_controllable: false,
      merchant_amount: amount,
      merchant_currency: currency,
    }
    const { content } = messageOf(REQUEST, asked(2_500, { pending_request }))
    expect('original' in content ? content.original : undefined).toEqual(original)
  })

  test('is for the additional amount when the merchant asks again, and counts the earlier requests', () => {
    const request_history = [entry(2_500, true), entry(9_000, false, 1)]
    const again = asked(700, { amount: 2_500, approved: true, request_history })
    expect(messageOf(REQUEST, again).content).toMatchObject({ ask: 2, amountCents: 700n })
  })

  test('may be for nothing, and may be approved in part', () => {
    const pending_request = { amount: 0, currency: 'eur', is_amount_controllable: true }
    expect(messageOf(REQUEST, asked(0, { pending_request })).content).toMatchObject({
      amountCents: 0n,
      partialAllowed: true,
    })
  })

  test.each([
    [
      'a descriptor alone',
      { name: ' ', category_code: '', country: null, url: null },
      { descriptor: '1234567890', mcc: null, country: null, url: null },
    ],
    ['codes of another form', { category_code: 'books', country: 'DEU' }, { mcc: null, country: null }],
  ])('names the merchant by %s', (_, members, expected) => {
    const { content } = messageOf(REQUEST, asked(100, { merchant_data: { ...merchantData, ...members } }))
    expect(content).toMatchObject({ merchant: expected })
  })

  test('keeps a descriptor that has characters which cannot be stored, without them', () => {
    const merchant_data = {
      ...merchantData,
      name: `Book\0shop \ud83d`,
      url: `https://x.example/${'a'.repeat(5_000)}`,
    }
    const { content } = messageOf(REQUEST, asked(100, { merchant_data }))
    expect(content).toMatchObject({
      merchant: { descriptor: 'Bookshop \ufffd', url: expect.stringMatching(/^.{2000}$/) },
    })
  })

  test.each([['tok_1'], [{ id: 'tok_1', object: 'issuing.token' }]])(
    'is of no token that this service gave a merchant, whatever Stripe paid with: %j',
    token => {
      expect(messageOf(REQUEST, asked(100, { token })).content).toMatchObject({
        merchant: { networkTokenId: null },
      })
    },
  )

  test.each([
    [
      'in another currency',
      { pending_request: { amount: 1, currency: 'usd', is_amount_controllable: false } },
      'pending_request.currency: every card is in euros',
    ],
    [
      'without its amount',
      { pending_request: { currency: 'eur', is_amount_controllable: false } },
      'pending_request.amount: ',
    ],
    [
      'of less than nothing',
      { pending_request: { amount: -1, currency: 'eur', is_amount_controllable: false } },
      'pending_request.amount: ',
    ],
    [
      'of parts of a cent',
      { pending_request: { amount: 0.5, currency: 'eur', is_amount_controllable: false } },
      'pending_request.amount: ',
    ],
    ['of no card', { card: null }, 'card: '],
    ['of a card whose id cannot be stored', { card: { id: 'ic_\0' } }, 'card'],
    ['without a history', { request_history: undefined }, 'request_history: '],
    ['of no merchant', { merchant_data: null }, 'merchant_data: '],
  ])('%s is unreadable, and the member is named', (_, members, reason) => {
    expect(readEvent(REQUEST, asked(100, members))).toEqual({
      kind: 'unreadable',
      reason: expect.stringContaining(reason),
    })
  })
})

describe('the answer to Stripe', () => {
  const question = messageOf(REQUEST, asked(2_500, { request_history: [entry(100, true)] }))
  const answered = (reply: CardReply) => {
    const { body, ...rest } = processor.answer(question, reply)
    return { ...rest, body: JSON.parse(body) }
  }
  const answer = (body: object) => ({
    status: 200,
    headers: { 'content-type': 'application/json', 'stripe-version': '2026-10-28.endive' },
    body,
  })

  test('is an approval or a decline in the API version of the header', () => {
    const approved = { kind: 'approved', approvedCents: cents(2_500n), askedCents: cents(2_500n) } as const
    expect(answered(approved)).toEqual(answer({ approved: true }))
    expect(answered({ kind: 'declined', reason: 'over the limit of Ada' })).toEqual(
      answer({ approved: false }),
    )
    expect(processor.answer(question, approved)).toEqual(processor.answer(question, approved))
  })

  test('a partial approval names its amount, which Stripe repeats later', () => {
    const reply = { kind: 'approved', approvedCents: cents(1_200n), askedCents: cents(2_500n) } as const
    const { body } = answered(reply)
    expect(body).toEqual({ approved: true, amount: 1_200, metadata: { approved_cents_1: '1200' } })
    const request_history = [entry(100, true), entry(2_500, true, 1)]
    expect(updateOf({ amount: 1_300, metadata: body.metadata, request_history })).toMatchObject({
      kind: 'outcome',
      asks: [
        { amountCents: 100n, approved: true },
        { amountCents: 1_200n, approved: true },
      ],
    })
  })

  test('any other message is only acknowledged', () => {
    const fact = messageOf(CREATED, anAuthorization())
    expect(processor.answer(fact, { kind: 'noted' })).toMatchObject({
      status: 200,
      body: '{"received":true}',
    })
  })

  test('to a question that was only noted is a no', () => {
    expect(answered({ kind: 'noted' }).body).toEqual({ approved: false })
  })
})
