import { describe, expect, test } from '@jest/globals'
import { parseInput } from '../../../../src/derive/http/input.ts'
import { newId } from '../../../../src/values/ids.ts'
import { allInputs, type Input, type Member, membersOf } from '../../../support/contract/contract-members.ts'

/** Words of zod's own messages, and of the service's fallback. */
const ZOD_WORDS =
  /invalid|\bexpected\b|(?<!_)received|too (big|small)|unrecognized|invalid format|a string like|must be (undefined|nan|unknown|never|date|bigint)|\bNaN\b|\[object/i

/** Values of every type, each of which is wrong for some member. */
const WRONG_VALUES = [
  null,
  true,
  7,
  -1,
  1.23456,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  9e20,
  '',
  'x',
  'x'.repeat(5_000),
  '2026-99-99',
  [],
  [[]],
  [null],
  [7, 'x', {}],
  {},
  { name: 7 },
  { '': 'x' },
  { ['x'.repeat(5_000)]: 'x' },
  Array.from({ length: 2_000 }, () => 'x'),
  Object.fromEntries(Array.from({ length: 101 }, (_, n) => [n, 'x'])),
]

const asTexts = (value: object): Record<string, string> =>
  Object.fromEntries(Object.entries(value).filter(([, member]) => typeof member === 'string'))

function refusalOf({ operation, place }: Input, value: unknown): string | undefined {
  const query = new URLSearchParams(place === 'query' && value instanceof Object ? asTexts(value) : {})
  try {
    parseInput(operation, query, place === 'body' ? value : {})
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

const step = { aboveEuros: 20, of: 'owners', need: 1, withinMinutes: 60, then: 'deny' }

const refusals = (sent: Input, { within }: Member): string[] =>
  WRONG_VALUES.flatMap(value => refusalOf(sent, within(value)) ?? [])

describe('the refusal of a wrong member', () => {
  test.each(allInputs.map(sent => [`${sent.key} ${sent.place}`, sent] as const))(
    'of %s is in our own words',
    (_, sent) => {
      const messages = membersOf(sent.schema).flatMap(member => refusals(sent, member))
      // Values of ours stand in quotes.
      const inQuotes = /"[^"]*"/g
      expect(messages.filter(message => ZOD_WORDS.test(message.replace(inQuotes, '')))).toEqual([])
      expect(messages.length).toBeGreaterThan(0)
    },
  )

  const create = allInputs.find(({ key }) => key === 'policies.create') as Input

  test.each([
    [{}, 'name: is required'],
    [{ name: null }, 'name: must be a string (it is null)'],
    [{ name: 7 }, 'name: must be a string (it is 7)'],
    [
      { name: 'a', expirationAction: 'sk_test_9sVd1rYc8eJf3gLn6pAi5oKt0uQxZ4k' },
      'expirationAction: must be "freeze", "close" or "notify" (the value looks like a secret and is not shown)',
    ],
    [
      { name: 'a', expirationAction: '4242 4242 4242 4242' },
      'expirationAction: must be "freeze", "close" or "notify" (the value looks like a secret and is not shown)',
    ],
    [{ name: ['a'] }, 'name: must be a string (it is an array)'],
    [{ name: Array.from({ length: 201 }, () => 'a') }, 'name: must be a string (it is an array)'],
    [{ name: '' }, 'name: must have at least 1 character (it has no characters)'],
    [{ name: 'x'.repeat(201) }, 'name: must have at most 200 characters (it has 201 characters)'],
    [{ name: 'a', requireIntent: 'true' }, 'requireIntent: must be true or false (it is "true")'],
    [{ name: 'a', activeHoursStart: 24 }, 'activeHoursStart: must be at most 23 (it is 24)'],
    [{ name: 'a', activeHoursStart: 1.5 }, 'activeHoursStart: must be an integer (it is 1.5)'],
    [
      { name: 'a', dailyLimitEuros: Number.POSITIVE_INFINITY },
      'dailyLimitEuros: must be a number (it is too large for a number)',
    ],
    [
      { name: 'a', expirationAction: 'x' },
      'expirationAction: must be "freeze", "close" or "notify" (it is "x")',
    ],
    [{ name: 'a', allowedMccs: {} }, 'allowedMccs: must be an array (it is an object)'],
    [
      { name: 'a', allowedMccs: ['12'] },
      'allowedMccs.0: a merchant category code has four digits (it is "12")',
    ],
    [
      { name: 'a', approval: [{ ...step, of: 'everyone' }] },
      'approval.0.of: must be "owners" or "approvers", or an array of ids of people (it is "everyone")',
    ],
    [
      { name: 'a', approval: [{ ...step, of: [] }] },
      'approval.0.of: must have at least 1 item (it has no items)',
    ],
    [
      { name: 'a', approval: [{ ...step, of: ['everyone'] }] },
      'approval.0.of.0: the id of a person begins with person_ (it is "everyone")',
    ],
    [[], 'body: must be an object (it is an array)'],
  ])('for %j is: %s', (body, message) => {
    expect(refusalOf(create, body)).toBe(message)
  })

  test.each([
    ['refunds.create', { fraud: 'fraudulent', not_received: 'not_delivered' }],
    ['disputes.create', { fraudulent: 'fraud', not_delivered: 'not_received' }],
  ])('is none for the word that another area has for a choice: %s', (key, synonyms) => {
    const { operation } = allInputs.find(input => input.key === key) as Input
    const body = {
      transactionId: newId('txn'),
      ...(key === 'refunds.create' ? {} : { description: 'A book' }),
    }
    for (const [word, reason] of Object.entries(synonyms))
      expect(parseInput(operation, new URLSearchParams(), { ...body, reason: word }).body).toMatchObject({
        reason,
      })
  })

  test('names a few members, and says that there are more', () => {
    const body = { name: 'a', allowedMccs: Array.from({ length: 1_500 }, () => 7) }
    const messages = String(refusalOf(create, body))
    expect(messages.match(/must be a string/g)?.length).toBe(5)
    expect(messages).toMatch(/; and more$/)
  })
})
