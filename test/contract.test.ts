import { beforeAll, describe, expect, test } from '@jest/globals'
import { z } from 'zod'
import type { Caller } from '../src/kernel/contract/actor.ts'
import { mediaTypeOf } from '../src/kernel/contract/file.ts'
import { testConsoleCallers } from './contract/console-callers.ts'
import { testDatabaseUse } from './contract/database-use.ts'
import { testListPlans } from './contract/list-plans.ts'
import { testSignedRequests } from './contract/signed-requests.ts'
import { testValidRequests } from './contract/valid-requests.ts'
import {
  acceptingOutbound,
  accepts,
  belongsToAgents,
  cases,
  casesWhere,
  checkedSender,
  expectHidden,
  expectPublishedForms,
  hasParameter,
  invalidCredentials,
  isPublic,
  isRoute,
  parsesBody,
  withBody,
  withoutTimes,
  worldsOf,
} from './support/contract/contract.ts'
import { credentialsWithout } from './support/contract/scopeless.ts'
import { credentials, unknownId } from './support/contract/world.ts'
import {
  DASHBOARD_SECRET,
  type HttpResponse,
  type RequestOptions,
  startTestService,
} from './support/harness.ts'
import { plainHttp } from './support/plain-http.ts'
import { recordSql, type SqlRecorder } from './support/sql-recorder.ts'

let recorder!: SqlRecorder
const started = await startTestService({
  env: { SECURITY_CONTACT: 'mailto:security@example.com' },
  outbound: acceptingOutbound,
  through: async url => {
    recorder = await recordSql(url)
    return recorder.url
  },
})
const service = { ...started, http: plainHttp(started.url) }
const worlds = await worldsOf(service)
const { owner, freshWorld, sharedWorld, foreignWorld, agentToken, liveKey, loner } = worlds
const send = checkedSender(freshWorld)

const { keyWithout, tokenWithout } = credentialsWithout(owner.client, loner.id)

describe.each(casesWhere(registered => !isPublic(registered)))('a call of %s with', (_, registered) => {
  const { callers, scope } = registered.operation
  const kinds: [Caller, string, RequestOptions][] = [
    ['key', 'an owner’s key', { token: owner.key }],
    ['agent', 'an agent’s token', { token: agentToken }],
    ['console', 'a person in the console', { headers: owner.session }],
    ['merchant', 'a merchant', { token: owner.merchantKey }],
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
          /^This operation takes (an API key|a person’s session|an agent token|a merchant’s key|the dashboard secret in X-D)/,
        )
      })

  if (scope)
    test('a credential without the scope is a 403 that names the scope', async () => {
      const tokens = [await keyWithout(scope)]
      if (callers.includes('agent')) tokens.push(await tokenWithout(scope))
      for (const token of tokens) {
        const { status, headers, body } = await send(registered, path, { token })
        expect([status, headers.get('x-error-code')]).toEqual([403, 'missing_scope'])
        expect(body.error).toContain(scope)
      }
    })
})

describe.each(casesWhere(registered => hasParameter(registered) && !isPublic(registered)))(
  '%s finds nothing under',
  (_, registered) => {
    let path: string
    let body: unknown
    beforeAll(async () => {
      ;({ path, body } = await sharedWorld.prepare(registered))
    })
    const find = (at: string, options: RequestOptions = credentials(registered, owner)) =>
      send(registered, at, { ...options, ...withBody(body) })

    test.each(['%00', 'a%20b', '%27', '..%2F', '%', 'x'.repeat(129)])('the malformed id %s', async id => {
      expect((await find(registered.operation.path.replace(/\{\w+\}/g, id))).status).toBe(404)
    })

    test('an unknown id', async () => {
      expect((await find(registered.operation.path.replace(/\{\w+\}/g, unknownId('nothing')))).status).toBe(
        404,
      )
    })

    test('an id of another kind', async () => {
      const nobody = owner.ownerId.replace(/.$/, last => (last === '0' ? '1' : '0'))
      expect((await find(registered.operation.path.replace(/\{\w+\}/g, nobody))).status).toBe(404)
    })

    if (registered.operation.callers.includes('key')) {
      test('another owner’s id', async () => {
        const { path: another } = await foreignWorld.prepare(registered)
        expectHidden(path, await find(another))
      })

      test('an id of the other mode', async () => {
        expectHidden(path, await find(path, { token: liveKey }))
      })
    }

    if (belongsToAgents(registered))
      test('an id of another agent', async () => {
        expectHidden(path, await find(path, { token: agentToken }))
      })
  },
)

describe.each(casesWhere(parsesBody))('%s refuses', (_, registered) => {
  const { body: schema, example } = registered.operation
  const members: [string, z.ZodType][] = schema instanceof z.ZodObject ? Object.entries(schema.shape) : []
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
    expect((await post({ ...validBody, colour: 1 })).body.error).toMatch(/colour: there is no such member/)
  })

  test('__proto__ and constructor as members', async () => {
    await post(`{"__proto__":{"a":1}}`)
    await post({ ...validBody, constructor: 1 })
  })

  for (const [name, member] of members) {
    const wrongValues = [[[{ a: 1 }]], { a: { b: [] } }, 1.23456, '\u0000', true].filter(
      value => !accepts(member, value),
    )
    if (wrongValues.length > 0)
      test(`a ${name} of a wrong type, by name`, async () => {
        for (const value of wrongValues)
          expect((await post({ ...validBody, [name]: value })).body.error).toMatch(name)
      })
  }

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

describe.each(cases)('%s', (_, registered) => {
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

  // Well-known addresses are those of the host (RFC 8615).
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

testConsoleCallers({ ...worlds, send })
testValidRequests({ service, recorder, owner, freshWorld, send })
testSignedRequests({ service, recorder, owner, agentToken, send })

test('every event emitted in these tests fits its published schema', async () => {
  const events = await service.sql<{ event: string; data: object }>('select event, data from events')
  expectPublishedForms(events)
  expect(new Set(events.map(({ event }) => event)).size).toBeGreaterThan(60)
})

// These read what all tests above have sent.
testDatabaseUse(service, recorder)
testListPlans(service, recorder)
