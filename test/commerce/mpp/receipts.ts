import { hash } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { withoutCredential } from '../../../src/commerce/mpp/echoed-credential.ts'
import { readPaymentReceipt } from '../../../src/commerce/mpp/pay/send.ts'
import { type PaymentReceipt, serializeCredential, serializeReceipt } from '../../../src/mpp/index.ts'

const now = new Date('2026-11-21T12:00:00Z')
const terms = { method: 'card', challengeId: 'c1', externalId: 'order-1', sentAt: now, now }
const receipt = (members: object = {}): string =>
  serializeReceipt({
    status: 'success',
    method: 'card',
    timestamp: now.toISOString(),
    reference: 'r1',
    ...members,
  } as PaymentReceipt)

test.each<[string, object]>([
  ['without more', {}],
  ['with its challenge', { challengeId: 'c1', externalId: 'order-1' }],
])('a receipt %s is given as it came', (_, members) => {
  const header = receipt(members)
  expect(readPaymentReceipt(header, terms)).toEqual({ receipt: header })
})

test('a receipt that names the network is given as it came, wherever its Base64 begins', () => {
  const named = { currency: 'eur', network: 'visa', panLastFour: '7597' }
  const jwe = Array.from('hkiec', letter => hash('sha256', letter, 'base64url')).join('.')
  for (const realm of ['a', 'ab', 'abc'])
    for (const reference of ['d', 'de', 'def']) {
      const challenge = { id: 'c1', realm, method: 'card', intent: 'charge', request: 'e30' }
      const credential = serializeCredential({ challenge, payload: { encryptedPayload: jwe, ...named } })
      const header = receipt({
        reference,
        proof: Buffer.from(JSON.stringify({ reference, ...named })).toString('base64url'),
      })
      const answer = { body: Buffer.of(), headers: {}, headerLists: { 'payment-receipt': [header] } }
      expect(withoutCredential(answer, { authorization: credential })).toEqual(answer)
    }
})

test.each<[string, string | undefined, RegExp]>([
  ['that is missing', undefined, /no receipt/],
  ['that cannot be read', 'e30=', /receipt/],
  ['of a failure', receipt({ status: 'failed' }), /status/],
  ['of another method', receipt({ method: 'tempo' }), /method/],
  ['of another challenge', receipt({ challengeId: 'c2' }), /challenge/],
  ['of another order', receipt({ externalId: 'order-2' }), /externalId/],
  ['of an hour ago', receipt({ timestamp: '2026-11-21T11:00:00Z' }), /older/],
  ['of tomorrow', receipt({ timestamp: '2026-11-22T12:00:00Z' }), /future/],
])('a receipt %s is null, with a note', (_, header, note) => {
  expect(readPaymentReceipt(header, terms)).toEqual({ receipt: null, note: expect.stringMatching(note) })
})
