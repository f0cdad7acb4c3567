import { describe, expect, test } from '@jest/globals'
import { sandboxFundingRail } from '../../src/adapters/funding-rail/sandbox.ts'
import { stripeFunding } from '../../src/adapters/stripe/funding/stripe-funding.ts'
import type { RegisteredOperation } from '../../src/kernel/contract/operation.ts'
import { EVENTS_SECRET, SECRET_KEY } from '../support/cards/stripe.ts'
import {
  acceptingOutbound,
  belongsToAgents,
  type casesFrom,
  checkedSender,
  expectHidden,
  expectPublishedForms,
  hasParameter,
  isPublic,
  parsesBody,
  withBody,
  worldsOf,
} from '../support/contract/contract.ts'
import { credentialsWithout } from '../support/contract/scopeless.ts'
import { hasQuery, IGNORING_UNKNOWN } from '../support/contract/standards.ts'
import { credentials, unknownId } from '../support/contract/world.ts'
import { type RequestOptions, startTestService } from '../support/harness.ts'
import { plainHttp } from '../support/plain-http.ts'
import { recordSql, type SqlRecorder } from '../support/sql-recorder.ts'
import { testDatabaseUse } from './database-use.ts'
import { testListPlans } from './list-plans.ts'
import { testValidRequests } from './valid-requests.ts'

/** The sandbox's processor sends no notices, so these are Stripe's. */
function notingRail() {
  const { recognizes, read } = stripeFunding({ secretKey: SECRET_KEY, webhookSecrets: [EVENTS_SECRET] })
  return { ...sandboxFundingRail(), recognizes, read }
}

/** A service with recorded statements, and two owners with everything that requests need. */
export async function contractService() {
  let recorder!: SqlRecorder
  const started = await startTestService({
    env: { SECURITY_CONTACT: 'mailto:security@example.com' },
    outbound: acceptingOutbound,
    outside: { fundingRail: notingRail },
    through: async url => {
      recorder = await recordSql(url)
      return recorder.url
    },
  })
  const service = { ...started, http: plainHttp(started.url) }
  const worlds = await worldsOf(service)
  return { service, recorder, ...worlds, send: checkedSender(worlds.freshWorld) }
}

export type ContractService = Awaited<ReturnType<typeof contractService>>

type Cases = ReturnType<typeof casesFrom>

/** Calls each of these operations over HTTP, and checks all of their statements. */
export async function testOperations(called: Cases): Promise<void> {
  const parts = await contractService()
  const { service, recorder, owner } = parts
  testRequests(called, parts)

  test('every event emitted in these tests fits its published schema', async () => {
    const events = await service.sql<{ event: string; data: object }>('select event, data from events')
    expectPublishedForms(events)
    expect(new Set(events.map(({ event }) => event)).size).toBeGreaterThan(20)
  })

  // These check the statements of all tests above.
  testDatabaseUse(called, service, recorder)
  testListPlans(called, { ...service, owner }, recorder)
}

/** A valid request, a foreign record, a missing scope, unknown members. */
export function testRequests(called: Cases, parts: ContractService): void {
  const { owner, loner, sharedWorld, send } = parts
  const { keyWithout, tokenWithout } = credentialsWithout(owner.client, loner.id)

  describe.each(called)('%s', (_, registered) => {
    const { scope, callers } = registered.operation

    if (scope && !isPublic(registered))
      test('is a 403 that names the scope for a credential without it', async () => {
        const { path } = await sharedWorld.prepare(registered)
        const tokens = [await keyWithout(scope)]
        if (callers.includes('agent')) tokens.push(await tokenWithout(scope))
        for (const token of tokens) {
          const { status, headers, body } = await send(registered, path, { token })
          expect([status, headers.get('x-error-code')]).toEqual([403, 'missing_scope'])
          expect(body.error).toContain(scope)
        }
      })

    if (hasParameter(registered) && !isPublic(registered))
      test('finds nothing of others', () => expectNothingOfOthers(registered, parts))

    test('refuses an unknown member, and an unknown query parameter', async () => {
      const { path, body } = await sharedWorld.prepare(registered)
      const options = credentials(registered, owner)
      const mark = path.includes('?') ? '&' : '?'
      const ignores = IGNORING_UNKNOWN.has(registered.key)
      const query = await send(registered, `${path}${mark}colour=1`, options)
      expect(query.status).toBe(ignores && hasQuery(registered.operation) ? 200 : 400)
      if (ignores || !parsesBody(registered)) return
      const answer = await send(registered, path, { ...options, body: { ...(body as object), colour: 1 } })
      expect([answer.status, answer.body.error]).toEqual([
        400,
        expect.stringContaining('colour: unknown field'),
      ])
    })
  })

  testValidRequests(called, parts)
}

async function expectNothingOfOthers(registered: RegisteredOperation, parts: ContractService): Promise<void> {
  const { owner, sharedWorld, foreignWorld, agentToken, liveKey, send } = parts
  const { path, body } = await sharedWorld.prepare(registered)
  const find = (at: string, options: RequestOptions = credentials(registered, owner)) =>
    send(registered, at, { ...options, ...withBody(body) })
  const unknown = registered.operation.path.replace(/\{\w+\}/g, unknownId('nothing'))
  expect((await find(unknown)).status).toBe(404)
  if (registered.operation.callers.includes('key')) {
    const { path: another } = await foreignWorld.prepare(registered)
    expectHidden(path, await find(another))
    expectHidden(path, await find(path, { token: liveKey }))
  }
  if (belongsToAgents(registered)) expectHidden(path, await find(path, { token: agentToken }))
}
