import { describe, expect, test } from '@jest/globals'
import { aTransaction, merchant, messageOf, readEvent } from '../../support/cards/stripe.ts'

const TRANSACTION = 'issuing_transaction.created'
const CARD = 'issuing_card.updated'

describe('a transaction at Stripe', () => {
  test('that took money is a clearing of its authorization', () => {
    expect(messageOf(TRANSACTION, aTransaction())).toMatchObject({
      processorCardId: 'ic_1',
      content: {
        kind: 'clearing',
        clearingId: 'ipi_1',
        authorizationId: 'iauth_1',
        amountCents: 2_500n,
        final: false,
        merchant,
      },
    })
  })

  test('may have no authorization, and come with whole objects in place of ids', () => {
    expect(messageOf(TRANSACTION, aTransaction({ authorization: null })).content).toMatchObject({
      authorizationId: null,
    })
    const whole = { card: { id: 'ic_2' }, authorization: { id: 'iauth_2' }, token: { id: 'tok_1' } }
    expect(messageOf(TRANSACTION, aTransaction(whole))).toMatchObject({
      processorCardId: 'ic_2',
      content: { authorizationId: 'iauth_2', merchant: { networkTokenId: null } },
    })
  })

  test('that gave money is a refund, linked or not', () => {
    const refund = aTransaction({ amount: 900, type: 'refund' })
    expect(messageOf(TRANSACTION, refund).content).toEqual({
      kind: 'refund',
      refundId: 'ipi_1',
      authorizationId: 'iauth_1',
      amountCents: 900n,
      merchant,
    })
    expect(messageOf(TRANSACTION, { ...refund, authorization: null }).content).toMatchObject({
      authorizationId: null,
    })
  })

  test('a reversed refund is a clearing, although Stripe calls it a refund', () => {
    const takenBack = aTransaction({ amount: -900, type: 'refund' })
    expect(messageOf(TRANSACTION, takenBack).content).toMatchObject({ kind: 'clearing', amountCents: 900n })
  })

  test('of nothing is nothing', () => {
    expect(readEvent(TRANSACTION, aTransaction({ amount: 0 }))).toEqual({ kind: 'ignored' })
  })

  test('in another currency is unreadable', () => {
    expect(readEvent(TRANSACTION, aTransaction({ currency: 'usd' }))).toEqual({
      kind: 'unreadable',
      reason: 'currency: every card is in euros',
    })
  })
})

describe('news about a card at Stripe', () => {
  const card = (more: object) => ({
    id: 'ic_1',
    status: 'active',
    cancellation_reason: null,
    shipping: null,
    ...more,
  })
  const shipping = { status: 'shipped', carrier: 'dhl', tracking_number: '00340434161094000000' }

  test.each([
    [null, 'canceled'],
    ['stolen', 'stolen'],
  ])('says that its number was closed, with the reason %j', (cancellation_reason, reason) => {
    const canceled = card({ status: 'canceled', cancellation_reason })
    expect(messageOf(CARD, canceled, { status: 'active' })).toMatchObject({
      processorCardId: 'ic_1',
      content: { kind: 'number_closed', reason },
    })
  })

  test('reports the shipment with its carrier and tracking number', () => {
    expect(messageOf(CARD, card({ shipping }), { shipping: { status: 'pending' } }).content).toEqual({
      kind: 'shipped',
      carrier: 'dhl',
      trackingNumber: '00340434161094000000',
    })
  })

  test.each([
    ['is frozen', card({ status: 'inactive' }), { status: 'active' }],
    ['waits for its shipment', card({ shipping: { status: 'pending' } }), { shipping: null }],
    ['was closed before', card({ status: 'canceled' }), { metadata: {} }],
    ['was shipped before', card({ shipping }), { metadata: {} }],
  ])('is not passed on where the card %s', (_, object, before) => {
    expect(readEvent(CARD, object, before)).toEqual({ kind: 'ignored' })
  })
})

describe('news about a token at Stripe', () => {
  const token = { id: 'intok_1', card: 'ic_1', status: 'active', wallet_provider: 'apple_pay' }

  test.each([
    ['issuing_token.created', 'requested', 'apple_pay', 'apple_pay'],
    ['issuing_token.updated', 'active', 'google_pay', 'google_pay'],
    ['issuing_token.updated', 'suspended', 'samsung_pay', 'samsung_pay'],
    ['issuing_token.updated', 'deleted', undefined, 'other'],
    ['issuing_token.updated', 'deleted', 'toString', 'other'],
  ])('by %s is about a mobile wallet: %s, %s', (type, status, wallet_provider, wallet) => {
    expect(messageOf(type, { ...token, status, wallet_provider })).toMatchObject({
      processorCardId: 'ic_1',
      content: { kind: 'mobile_wallet', tokenId: 'intok_1', wallet, status },
    })
  })

  test('in a state that the service does not know is unreadable', () => {
    expect(readEvent('issuing_token.updated', { ...token, status: 'melted' })).toEqual({
      kind: 'unreadable',
      reason: expect.stringContaining('status: '),
    })
  })
})

test.each([
  ['issuing_cardholder.updated', { id: 'ich_1' }],
  ['issuing_transaction.updated', aTransaction()],
  ['issuing_card.created', { id: 'ic_1' }],
  ['charge.succeeded', { id: 'ch_1' }],
])('%s is nothing that the service acts on', (type, object) => {
  expect(readEvent(type, object)).toEqual({ kind: 'ignored' })
})
