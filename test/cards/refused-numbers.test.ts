import { expect, test } from '@jest/globals'
import { withJsonNames } from '../../src/values/json-names.ts'
import { operations } from '../support/contract/world.ts'

const OF_CARDS = /^(\/v1)?\/(cards|card-requests|checkout|credentials|agent-credentials)\b/

const bodies = operations.flatMap(({ key, operation: { path, body, example = {} } }) =>
  OF_CARDS.test(path) && body ? [{ key, body, example }] : [],
)

test('every body about cards and checkout is looked at', () => {
  expect(bodies.length).toBeGreaterThan(15)
})

test.each(bodies)('a card number anywhere in the body of $key refuses it whole', ({ body, example }) => {
  for (const number of ['4242424242424242', '4242 4242 4242 4242', { deep: ['4242-4242-4242-4242'] }]) {
    const problem = body.safeParse(withJsonNames(body, { ...example, metadata: { note: number } })).error
    const message = problem?.issues.map((issue: { message: string }) => issue.message).join()
    expect(message).toMatch('looks like the number of a card')
    expect(message).not.toContain('4242')
  }
})
