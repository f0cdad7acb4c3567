import { expect, test } from '@jest/globals'
import { readReceipt } from '../../../src/commerce/mpp/merchant-receipt.ts'
import { type Receipt, writeReceipt } from '../../../src/mpp/index.ts'

const now = new Date('2026-11-21T12:00:00Z')
const terms = { challengeId: 'c1', externalId: 'order-1', sentAt: now, now }
const receipt = (members: object = {}): string =>
  writeReceipt({
    status: 'success',
    method: 'card',
    timestamp: now.toISOString(),
    reference: 'r1',
    ...members,
  } as Receipt)

test.each<[string, object]>([
  ['without more', {}],
  ['with its challenge', { challengeId: 'c1', externalId: 'order-1' }],
])('a receipt %s is given as it came', (_, members) => {
  const header = receipt(members)
  expect(readReceipt(header, terms)).toEqual({ receipt: header })
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
  expect(readReceipt(header, terms)).toEqual({ receipt: null, note: expect.stringMatching(note) })
})
