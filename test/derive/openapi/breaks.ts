import { describe, expect, test } from '@jest/globals'
import {
  breakingChanges,
  buildBaseline,
  type ContractBaseline,
  readBaseline,
  type SchemaShape,
} from '../../../src/packages/write/baseline.ts'
import { readClientContract } from '../../../src/packages/write/contract.ts'

const text: SchemaShape = { types: ['string'] }
const object = (members: Record<string, SchemaShape>, always: readonly string[] = []): SchemaShape => ({
  types: ['object'],
  members,
  always,
})

const contractOf = (
  sent: SchemaShape,
  returned: SchemaShape,
  records: ContractBaseline['records'] = {},
): ContractBaseline => ({
  version: '1.0.0',
  records,
  operations: { 'apples.pick': { call: 'POST /apples json', sent, returned } },
})

const apple = object({ kind: text, size: { types: ['integer'] } }, ['kind', 'size'])
const order = object({ kind: { ...text, choices: ['Boskoop', 'Elstar'] }, note: text }, ['kind'])
const before = contractOf(order, { types: ['object'], record: 'Apple' }, { Apple: apple })

const changed = (changes: { sent?: SchemaShape; apple?: SchemaShape }): ContractBaseline =>
  contractOf(changes.sent ?? order, { types: ['object'], record: 'Apple' }, { Apple: changes.apple ?? apple })

const kinds = (...choices: string[]): SchemaShape => ({ ...text, choices })

describe('a change of the contract', () => {
  test.each([
    ['nothing', changed({})],
    [
      'one member more that may be left out',
      changed({ sent: object({ ...order.members, colour: text }, ['kind']) }),
    ],
    ['a member that may be left out now', changed({ sent: object({ ...order.members }) })],
    [
      'a value more to send',
      changed({ sent: object({ kind: kinds('Boskoop', 'Elstar', 'Gala'), note: text }, ['kind']) }),
    ],
    [
      'a member more in the answer',
      changed({ apple: object({ ...apple.members, colour: text }, ['kind', 'size', 'colour']) }),
    ],
    [
      'a type more to send',
      changed({
        sent: object({ kind: order.members?.kind ?? text, note: { types: ['null', 'string'] } }, ['kind']),
      }),
    ],
  ])('breaks no caller: %s', (_, newer) => {
    expect(breakingChanges(before, newer)).toEqual([])
  })

  test.each([
    ['apples.pick: the operation is gone', { ...before, operations: {} }],
    [
      'apples.pick: it was POST /apples json, and is PUT /apples json',
      {
        ...before,
        operations: { 'apples.pick': { ...before.operations['apples.pick'], call: 'PUT /apples json' } },
      },
    ],
    ['apples.pick: note is gone', changed({ sent: object({ kind: order.members?.kind ?? text }, ['kind']) })],
    [
      'apples.pick: note must not be missing now',
      changed({ sent: object({ ...order.members }, ['kind', 'note']) }),
    ],
    [
      'apples.pick: colour must not be missing now',
      changed({ sent: object({ ...order.members, colour: text }, ['kind', 'colour']) }),
    ],
    [
      'apples.pick: kind does not take "Elstar" any more',
      changed({ sent: object({ kind: kinds('Boskoop'), note: text }, ['kind']) }),
    ],
    [
      'apples.pick: note takes some values only',
      changed({ sent: object({ ...order.members, note: kinds('a') }, ['kind']) }),
    ],
    [
      'apples.pick: note was string, and is integer',
      changed({ sent: object({ ...order.members, note: { types: ['integer'] } }, ['kind']) }),
    ],
    ['apples.pick answers size is gone', changed({ apple: object({ kind: text }, ['kind']) })],
    [
      'apples.pick answers size may be missing now',
      changed({ apple: object({ ...apple.members }, ['kind']) }),
    ],
    [
      'apples.pick answers size was integer, and is null or number',
      changed({ apple: object({ ...apple.members, size: { types: ['null', 'number'] } }, ['kind', 'size']) }),
    ],
  ] as const)('breaks callers, and is told so: %s', (sentence, newer) => {
    expect(breakingChanges(before, newer as ContractBaseline)).toEqual([sentence])
  })

  test('changes nothing for callers of this version', () => {
    const breaks = breakingChanges(readBaseline(), buildBaseline(readClientContract()))
    const remedy = 'Keep it as it was, or raise the version and accept it: npm run openapi -- --breaking'
    expect(breaks.map(sentence => `${sentence}. ${remedy}`)).toEqual([])
  })
})
