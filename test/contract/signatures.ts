import { describe, expect, test } from '@jest/globals'
import type { AnyOperation } from '../../src/kernel/contract/operation.ts'
import { operations } from '../support/contract/world.ts'

const membersOf = ({ path, body }: AnyOperation): string[] => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
  ...Object.keys((body as { shape?: object } | undefined)?.shape ?? {}),
]

/** An applied proposal passes on the signature for the proposed operation. */
const signed = operations.filter(
  ({ key, operation }) => membersOf(operation).includes('webauthnAssertion') && key !== 'proposals.apply',
)

const nameless = (path: string): string => path.replace(/\{\w+\}/g, '{}')

const challengeOf = (path: string) =>
  operations.find(
    ({ operation }) => operation.method === 'POST' && nameless(operation.path) === nameless(path),
  )?.operation

test('whatever a passkey signs is known', () => {
  expect(signed.length).toBeGreaterThan(13)
})

describe.each(signed.map(({ key, operation }) => [key, operation] as const))('%s', (_, operation) => {
  const { challenge = '', asks } = operation.signature ?? {}

  test('says which challenge a passkey signs, and that is one', () => {
    expect([operation.signature === undefined, challengeOf(challenge)?.requires]).toEqual([false, 'passkeys'])
  })

  test('asks for it with members that both have', () => {
    const own = membersOf(operation)
    const named = `${challenge} ${JSON.stringify(asks ?? {})}`.matchAll(/\{(\w+)\}|"\$(\w+)"/g)
    for (const [, parameter, member] of named) expect(own).toContain(parameter ?? member)
    const given = asks ? Object.keys(asks) : own.filter(name => name !== 'webauthnAssertion')
    const taken = challengeOf(challenge)
    expect(taken && given.filter(name => !membersOf(taken).includes(name))).toEqual([])
  })
})
