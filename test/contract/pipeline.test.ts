import { beforeAll, describe, expect, test } from '@jest/globals'
import type { CallerType } from '../../src/kernel/contract/actor.ts'
import { mediaTypeOf } from '../../src/kernel/contract/file.ts'
import type { RegisteredOperation } from '../../src/kernel/contract/operation.ts'
import {
  cases,
  hasParameter,
  invalidCredentials,
  isPublic,
  isRoute,
  parsesBody,
  withBody,
  withoutTimes,
} from '../support/contract/contract.ts'
import { credentials, unknownId } from '../support/contract/world.ts'
import { DASHBOARD_SECRET, type HttpResponse, type RequestOptions } from '../support/harness.ts'
import { testConsoleCallers } from './console-callers.ts'
import { contractService } from './operations.ts'
import { testSignedRequests } from './signed-requests.ts'

/**
 * Every request goes through one pipeline, so refusals before the handler are tested on these operations: one
 * for each kind of caller, method, body and address. `access-matrix.md` lists who may call what.
 */
const REPRESENTATIVE = new Set([
  'intents.create',
  'intents.list',
  'agents.get',
  'policies.replace',
  'policies.delete',
  'transfers.create',
  'keys.openAccount',
  'people.update',
  'webhooks.create',
  'mppMerchants.get',
  'consoleView.home',
  'health.health',
])
const parts = await contractService()
const { service, owner, sharedWorld, agentToken, send } = parts
const chosen = cases.filter(([key]) => REPRESENTATIVE.has(key))
const chosenWhere = (isWanted: (registered: RegisteredOperation) => boolean) =>
  chosen.filter(([, registered]) => isWanted(registered))

test('each operation that stands for others exists', () => expect(chosen).toHaveLength(REPRESENTATIVE.size))

describe.each(chosenWhere(registered => !isPublic(registered)))('a call of %s with', (_, registered) => {
  const { callers } = registered.operation
  const kinds: [CallerType, string, RequestOptions][] = [
    ['key', 'an owner’s key', { token: owner.key }],
    ['agent', 'an agent’s token', { token: agentToken }],
    ['console', 'a person in the console', { headers: owner.session }],
    ['dash', 'the dashboard', { headers: { 'x-dashboard-secret': DASHBOARD_SECRET } }],
  ]
  let path: string
  beforeAll(async () => {
    path = (await sharedWorld.prepare(registered)).path
  })

  test.each(invalidCredentials(owner.key))('%s is a 401', async (_, options) => {
    const { status, headers, body } = await send(registered, path, options)
    expect([status, headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    if (callers.includes('dash')) expect(body.error).toContain('X-Dashboard-Secret')
  })

  for (const [kind, caller, options] of kinds)
    if (!callers.includes(kind))
      test(`${caller} is a 403`, async () => {
        const { status, headers, body } = await send(registered, path, options)
        expect([status, headers.get('x-error-code')]).toEqual([403, 'wrong_caller'])
        expect(body.error).toMatch(
          /^This operation takes (an API key|a person’s session|an agent token|the dashboard secret in X-D)/,
        )
      })
})

describe.each(chosenWhere(registered => hasParameter(registered) && !isPublic(registered)))(
  '%s finds nothing under',
  (_, registered) => {
    const find = async (id: string) => {
      const { body } = await sharedWorld.prepare(registered)
      const at = registered.operation.path.replace(/\{\w+\}/g, id)
      return send(registered, at, { ...credentials(registered, owner), ...withBody(body) })
    }

    test.each(['%00', 'a%20b', '%27', '..%2F', '%', 'x'.repeat(129)])('the malformed id %s', async id => {
      expect((await find(id)).status).toBe(404)
    })

    test('an id of another kind', async () => {
      const nobody = owner.ownerId.replace(/.$/, last => (last === '0' ? '1' : '0'))
      expect((await find(nobody)).status).toBe(404)
    })
  },
)

describe.each(chosenWhere(parsesBody))('%s refuses', (_, registered) => {
  const { example } = registered.operation
  let path: string
  let validBody: object
  beforeAll(async () => {
    const prepared = await sharedWorld.prepare(registered)
    path = prepared.path
    validBody = (prepared.body ?? {}) as object
  })
  const post = async (body: unknown): Promise<HttpResponse> => {
    const answer = await send(registered, path, { ...credentials(registered, owner), body })
    expect(answer.status).toBe(400)
    return answer
  }

  test('a body that is not an object', async () => {
    await Promise.all(['[]', 'null', '"text"', '7', '{', '[{}]'].map(post))
  })

  test('an unknown member', async () => {
    expect((await post({ ...validBody, colour: 1 })).body.error).toMatch(/colour: unknown field/)
  })

  test('__proto__ and constructor as members, and NUL in a text', async () => {
    await post(`{"__proto__":{"a":1}}`)
    await post({ ...validBody, constructor: 1 })
    await post({ ...validBody, metadata: { a: '\u0000' } })
  })

  if (example !== undefined)
    test('a body of another media type', async () => {
      const headers = { 'content-type': 'text/plain' }
      const options = credentials(registered, owner)
      const answer = await send(registered, path, {
        ...options,
        headers: { ...options.headers, ...headers },
        body: validBody,
      })
      expect(answer.status).toBe(415)
    })
})

describe.each(chosen)('%s', (_, registered) => {
  const { method, path: template, query } = registered.operation

  test('refuses an unknown query parameter', async () => {
    const { path } = await sharedWorld.prepare(registered)
    const queries = ['colour=1', 'colour=1&colour=2', '__proto__=1', 'a=%00']
    if (query?.shape?.limit)
      queries.push('limit=0', 'limit=101', 'limit=x', 'limit=1&limit=1', 'cursor=forged')
    const mark = path.includes('?') ? '&' : '?'
    for (const text of queries) {
      const { status } = await send(registered, path + mark + text, credentials(registered, owner))
      expect(status).toBe(400)
    }
  })

  test('is reached by its own method only', async () => {
    const path = template.replace(/\{\w+\}/g, unknownId('nothing'))
    const allowedMethods = new Set(
      ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(name => isRoute(name, path)),
    )
    const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(name => !allowedMethods.has(name))
    expect([allowedMethods.has(method), others.length > 0]).toEqual([true, true])
    for (const wrongMethod of others) {
      const { status, headers } = await service.http(wrongMethod, path, credentials(registered, owner))
      expect([status, headers.get('allow')]).toEqual([405, [...allowedMethods].join(', ')])
    }
  })

  // Well-known addresses belong to the host (RFC 8615).
  if (!template.startsWith('/.well-known/'))
    test('answers under /v1 as it does without', async () => {
      const { path } = await sharedWorld.prepare(registered)
      const twin = path.startsWith('/v1/') ? path.slice(3) : `/v1${path === '/' ? '/' : path}`
      const options = parsesBody(registered)
        ? { ...credentials(registered, owner), body: { colour: 1 } }
        : credentials(registered, owner)
      const [here, there] = [await send(registered, path, options), await send(registered, twin, options)]
      expect(there.status).toBe(here.status)
      if (!mediaTypeOf(registered.operation.returns[1]))
        expect(withoutTimes(there.body)).toEqual(withoutTimes(here.body))
    })
})

testConsoleCallers(chosen, parts)
testSignedRequests(parts)
