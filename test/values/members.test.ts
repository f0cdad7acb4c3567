import { expect, test } from '@jest/globals'
import { commonTableMembers, memberKind } from '../../src/values/members.ts'

test('says by its name and value what a member is', () => {
  const id = 'wallet_01jd8x2m4ye7k9v0c3q5r6t8wz'
  const members = {
    amountEuros: 5,
    score: 5,
    toolWrites: false,
    dueAt: '2026-11-20T09:30:00.000Z',
    period: '2026-11',
    externalId: 'order-1',
    duplicateOf: id,
    note: `See ${id}`,
    empty: '',
    reason: null,
    scopes: ['a', 'b'],
    parts: [{ walletId: id }],
    limits: { dailyLimitEuros: 5 },
  }
  expect(Object.entries(members).map(([name, value]) => memberKind(name, value))).toEqual([
    'amount',
    'number',
    'flag',
    'instant',
    'text',
    'id',
    'id',
    'text',
    'none',
    'none',
    'list',
    'records',
    'record',
  ])
})

test('puts first what tells most of a record, and leaves out what is empty in each row or has members of its own', () => {
  const row = { ownerId: 'o', mode: 'test', note: null, limits: {}, country: 'DE', status: 'active', id: 'a' }
  expect(commonTableMembers([row, { ...row, note: 'one' }])).toEqual([
    'id',
    'status',
    'note',
    'country',
    'ownerId',
    'mode',
  ])
  expect(commonTableMembers([{ limits: { a: 1 } }])).toEqual(['limits'])
})
