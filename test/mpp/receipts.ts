import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import {
  isUnusableInput,
  type PaymentReceipt,
  parseReceipt,
  paymentReceiptProblem,
  serializeReceipt,
  toBase64url,
} from '../../src/mpp/index.ts'

const receipt: PaymentReceipt = {
  status: 'success',
  method: 'card',
  timestamp: '2026-11-21T12:00:00.000Z',
  reference: 'ch_1',
}

describe('a receipt', () => {
  test('is what was written, with members that are not of the protocol', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
    const written = fc.record({
      method: text,
      reference: text,
      challengeId: text,
      externalId: text,
      proof: text,
    })
    fc.assert(
      fc.property(written, members => {
        expect(parseReceipt(serializeReceipt({ ...receipt, ...members }))).toEqual({ ...receipt, ...members })
      }),
    )
  })

  test.each([
    ['another status', { status: 'failed' }, /status success/],
    ['no reference', { reference: undefined }, /no reference/],
    ['no time', { timestamp: '' }, /no timestamp/],
    ['a time that is none', { timestamp: 'yesterday' }, /RFC 3339/],
    ['a thirteenth month', { timestamp: '2026-13-01T00:00:00Z' }, /RFC 3339/],
    ['a challengeId that is a number', { challengeId: 1 }, /challengeId/],
  ])('is refused with %s', (_, changed, why) => {
    const read = parseReceipt(toBase64url(JSON.stringify({ ...receipt, ...changed })))
    expect(read).toMatchObject({ problem: expect.stringMatching(why) })
  })

  test('refuses a value that is not base64url of JSON', () => {
    expect(['', '{}', 'e30=', toBase64url('[]')].map(text => isUnusableInput(parseReceipt(text)))).toEqual(
      Array(4).fill(true),
    )
  })

  const now = new Date('2026-11-21T12:00:03.000Z')
  const paid = { challengeId: 'c', externalId: 'order-7', method: 'card', now }

  test.each([
    ['plain', {}],
    ['with both ids', { challengeId: 'c', externalId: 'order-7' }],
    ['four minutes ahead', { timestamp: '2026-11-21T12:04:03Z' }],
    ['in another zone', { timestamp: '2026-11-21T13:00:00.5+01:00' }],
  ])('is that of the payment: %s', (_, changed) => {
    expect(paymentReceiptProblem({ ...receipt, ...changed }, paid)).toBeUndefined()
  })

  test.each([
    ['another method', { method: 'tempo' }, /another payment method/],
    ['another challenge', { challengeId: 'd' }, /another challenge/],
    ['another order', { externalId: 'order-8' }, /externalId/],
    ['an old payment', { timestamp: '2026-11-21T11:54:00Z' }, /older than the payment/],
    ['the future', { timestamp: '2026-11-21T12:06:00Z' }, /from the future/],
  ])('is that of %s', (_, changed, why) => {
    expect(paymentReceiptProblem({ ...receipt, ...changed }, paid)).toMatch(why)
  })

  test('counts from when the credential was sent', () => {
    const slow = { ...paid, now: new Date('2026-11-21T12:30:00Z'), sentAt: now }
    expect(paymentReceiptProblem(receipt, slow)).toBeUndefined()
  })
})
