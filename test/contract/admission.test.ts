import { describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import { areas } from '../../src/areas.ts'
import { createAuthenticator, publicActor } from '../../src/derive/http/authenticate.ts'
import { parseInput } from '../../src/derive/http/input.ts'
import type { Actor, CallerType } from '../../src/kernel/contract/actor.ts'
import { publishedOperations } from '../../src/kernel/contract/area.ts'
import { Problem } from '../../src/kernel/contract/problem.ts'
import { allScopeNames } from '../../src/kernel/contract/scopes.ts'
import { accepts, cases, parsesBody } from '../support/contract/contract.ts'
import { DASHBOARD_SECRET } from '../support/harness.ts'
import { routesTo } from '../support/http/routing.ts'

// The pipeline's decisions about every operation before its handler, without a request. `pipeline.test.ts`
// shows that requests reach these decisions, and `access-matrix.md` lists the rights.

const TOKEN = 'sk_sandbox_0123456789'
const HELD = ['key', 'agent', 'console'] as const

/** The result for a caller: `admitted`, or the code of the refusal. */
async function admission(
  operation: (typeof cases)[number][1]['operation'],
  type: (typeof HELD)[number] | 'dash' | 'nobody',
  held: readonly string[] = [],
): Promise<string> {
  const actor: Actor = { ...publicActor, type: type as Actor['type'], id: 'someone', scopes: new Set(held) }
  const decide = createAuthenticator({ holderOf: async () => actor }, DASHBOARD_SECRET, async () => undefined)
  const isReading = operation.method === 'GET'
  const session = type === 'console' ? TOKEN : undefined
  const presented = {
    authorization: type === 'nobody' || type === 'dash' || session ? undefined : `Bearer ${TOKEN}`,
    dashboardSecret: type === 'dash' ? DASHBOARD_SECRET : undefined,
    browser: { session, isReading, isOfOurPage: true, isBackground: false },
  }
  return decide(operation, presented).then(
    ({ type: admitted }) => (admitted === 'public' ? 'public' : 'admitted'),
    error => (error instanceof Problem ? error.code : Promise.reject(error)),
  )
}

describe.each(cases)('%s admits', (_, { operation }) => {
  const { callers, scope } = operation
  const isPublic = callers.includes('public')
  const takes = (caller: CallerType): boolean => callers.includes(caller)
  const others = allScopeNames.filter(name => name !== scope)

  test('its callers with its scope, and nobody else', async () => {
    for (const type of HELD) {
      const expected = isPublic ? 'public' : takes(type) ? 'admitted' : 'wrong_caller'
      expect([type, await admission(operation, type, allScopeNames)]).toEqual([type, expected])
    }
    const ofDashboard = isPublic ? 'public' : takes('dash') ? 'admitted' : 'wrong_caller'
    expect(await admission(operation, 'dash')).toBe(ofDashboard)
    expect(await admission(operation, 'nobody')).toBe(isPublic ? 'public' : 'unauthenticated')
  })

  const holders = HELD.filter(takes)
  if (scope && holders.length > 0 && !isPublic)
    test('none of its callers with every other scope', async () => {
      for (const type of holders)
        expect([type, await admission(operation, type, others)]).toEqual([type, 'missing_scope'])
    })
})

describe('an address', () => {
  const find = routesTo(publishedOperations(areas))
  const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

  test.each(cases)('of %s is known by its methods only, with and without /v1', async (_, registered) => {
    const { method, path } = registered.operation
    const address = path.replace(/\{\w+\}/g, 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz')
    const twins = registered.addresses.map(at => at.replace(/\{\w+\}/g, 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz'))
    expect(twins).toContain(address)
    const bare = twins.filter(twin => !twin.startsWith('/v1/'))
    if (!path.startsWith('/.well-known/')) for (const at of bare) expect(twins).toContain(`/v1${at}`)
    for (const twin of twins) expect(await find(method, twin)).toMatchObject({ key: registered.key })
    const wrong = []
    for (const other of METHODS) {
      const found = await find(other, address)
      if (found && 'allow' in found) wrong.push(found)
    }
    expect(wrong.length).toBeGreaterThan(0)
    for (const { allow } of wrong) expect(allow).toContain(method)
  })

  // The key of a merchant is a name, which may contain spaces.
  test.each(cases.filter(([, { operation }]) => /\{(?!key\})/.test(operation.path)))(
    'of %s is unknown with a malformed id',
    async (_, { operation: { method, path } }) => {
      for (const id of ['%00', 'a%20b', '%27', '..%2F', '%', '%zz', 'x'.repeat(129)])
        expect(await find(method, path.replace(/\{\w+\}/g, id))).toBeUndefined()
    },
  )
})

describe('a body', () => {
  const WRONG = [[[{ a: 1 }]], { a: { b: [] } }, 1.23456, true]
  const members = cases
    .filter(([, registered]) => parsesBody(registered))
    .flatMap(([key, { operation }]) => {
      const shape = operation.body instanceof z.ZodObject ? operation.body.shape : {}
      return Object.entries<z.ZodType>(shape).map(([name, member]) => {
        const wrong = WRONG.filter(value => !accepts(member, value))
        return [key, name, wrong, operation] as const
      })
    })
    .filter(([, , wrong]) => wrong.length > 0)

  test.each(members)('of %s is refused for a %s of a wrong type, by name', (_, name, wrong, operation) => {
    for (const value of wrong) {
      const body = { ...(operation.example as object), [name]: value }
      expect(() => parseInput(operation, new URLSearchParams(), body)).toThrow(name)
    }
  })
})
