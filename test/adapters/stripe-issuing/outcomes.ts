import { describe, expect, test } from '@jest/globals'
import {
  anAuthorization,
  aTransaction,
  entry,
  merchant,
  messageOf,
  readEvent,
  updateOf,
} from '../../support/cards/stripe.ts'

const CREATED = 'issuing_authorization.created'
const UPDATED = 'issuing_authorization.updated'

describe('Stripe’s report of an authorization', () => {
  test.each([
    ['approved by us', [entry(2_500, true)], [{ amountCents: 2_500n, approved: true }]],
    [
      'declined without asking us',
      [{ ...entry(2_500, false), reason: 'card_inactive' }],
      [{ amountCents: 2_500n, approved: false }],
    ],
    [
      'declined as our answer came too late',
      [{ ...entry(2_500, false), reason: 'webhook_timeout' }],
      [{ amountCents: 2_500n, approved: false }],
    ],
    [
      'approved by the network in our place',
      [{ ...entry(2_500, true), reason: 'network_fallback' }],
      [{ amountCents: 2_500n, approved: true }],
    ],
    [
      'in the order of the requests',
      [entry(300, false, 9), entry(200, true, 5), entry(100, true, 1)],
      [
        { amountCents: 100n, approved: true },
        { amountCents: 200n, approved: true },
        { amountCents: 300n, approved: false },
      ],
    ],
  ])('is the outcome of each request: %s', (_, request_history, asks) => {
    const outcome = { kind: 'outcome', authorizationId: 'iauth_1', asks, merchant }
    expect(messageOf(CREATED, anAuthorization({ request_history })).content).toEqual(outcome)
    expect(updateOf({ request_history }, { request_history: [] })).toEqual(outcome)
  })

  test('is not heard while it has decided nothing', () => {
    expect(readEvent(UPDATED, anAuthorization({ request_history: [] }), { amount: 1 })).toEqual({
      kind: 'ignored',
    })
  })

  test('that the merchant has given all of it back is a reversal of the whole', () => {
    expect(updateOf({ status: 'reversed', amount: 0 }, { status: 'pending', amount: 2_500 })).toEqual({
      kind: 'reversal',
      authorizationId: 'iauth_1',
      amountCents: null,
    })
  })

  test('that the merchant has given a part back is a reversal of that part', () => {
    expect(updateOf({ amount: 1_500 }, { amount: 2_500 })).toEqual({
      kind: 'reversal',
      authorizationId: 'iauth_1',
      amountCents: 1_000n,
    })
  })

  test.each([
    ['an increment', { amount: 3_000 }, { amount: 2_500, request_history: [] }],
    ['a request that was counted again', { amount: 2_000 }, { amount: 2_500, request_history: [] }],
    ['a clearing', { amount: 1_500 }, { amount: 2_500, transactions: [] }],
    ['an increase', { amount: 2_500 }, { amount: 100 }],
    ['other members', {}, { metadata: {}, wallet: null }],
  ])('that tells of %s is no reversal', (_, members, before) => {
    expect(updateOf(members, before)).toMatchObject({ kind: 'outcome' })
  })

  test('that it has expired is an expiry', () => {
    expect(updateOf({ status: 'expired' }, { status: 'pending' })).toEqual({
      kind: 'expiry',
      authorizationId: 'iauth_1',
    })
  })

  test('a closed authorization repeats its last clearing as the final one', () => {
    const transactions = [
      aTransaction({ id: 'ipi_1', amount: -900 }),
      aTransaction({ id: 'ipi_2', amount: -600 }),
      aTransaction({ id: 'ipi_3', amount: 100, type: 'refund' }),
    ]
    const last = updateOf({ status: 'closed', transactions }, { status: 'pending' })
    expect(last).toMatchObject({ kind: 'clearing', clearingId: 'ipi_2', amountCents: 600n, final: true })
    const alone = messageOf('issuing_transaction.created', transactions[1]).content
    expect(last).toEqual({ ...alone, final: true })
  })

  test.each([
    ['without a clearing', { request_history: [entry(0, true)], amount: 0 }],
    ['as it was declined', { request_history: [entry(2_500, false)], approved: false }],
  ])('that it is closed %s gives nothing back', (_, members) => {
    expect(updateOf({ status: 'closed', ...members }, { status: 'pending' })).toMatchObject({
      kind: 'outcome',
    })
  })
})
