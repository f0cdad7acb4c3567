import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { type AnyOperation, refusalFormOf } from '../../src/kernel/contract/operation.ts'
import { signatureRequirement } from '../../src/kernel/contract/tool.ts'
import { operations } from '../support/contract/world.ts'

const membersOf = ({ path, body }: AnyOperation): string[] => [
  ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
  ...Object.keys((body as { shape?: object } | undefined)?.shape ?? {}),
]

/** An applied proposal passes on the signature for the proposed operation. */
const signed = operations.filter(
  ({ key, operation }) =>
    key !== 'proposals.apply' &&
    (operation.signature !== undefined || membersOf(operation).includes('webauthnAssertion')),
)

const [widening, others] = [true, false].map(isWidening =>
  signed.filter(
    ({ operation: { signature } }) => (signature !== undefined && 'inRefusal' in signature) === isWidening,
  ),
) as [typeof signed, typeof signed]

const nameless = (path: string): string => path.replace(/\{\w+\}/g, '{}')

const challengeOf = (path: string) =>
  operations.find(
    ({ operation }) => operation.method === 'POST' && nameless(operation.path) === nameless(path),
  )?.operation

test('whatever a passkey signs is known', () => {
  expect(others.length).toBeGreaterThan(13)
})

test('what lets more be spent takes a signature, links to its challenge, and asks to enroll a passkey first', () => {
  const incomplete = widening.filter(({ operation }) => {
    const { fails, callers, emits } = operation
    const links = refusalFormOf(operation, 'assertion_required').links === 'challenge'
    const takes = JSON.stringify(z.toJSONSchema(operation.body, { io: 'input', unrepresentable: 'any' }))
    const tells = fails?.passkey_required !== undefined && 'passkey.blocked' in emits
    return !(links && tells && takes.includes('"webauthnAssertion"') && callers.includes('console'))
  })
  expect(incomplete.map(({ key }) => key)).toEqual([])
})

describe.each(others.map(({ key, operation }) => [key, operation] as const))('%s', (_, operation) => {
  const { challenge = '', asks } = signatureRequirement(operation.signature) ?? {}

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
