import { beforeAll, describe, expect, test } from '@jest/globals'
import type { RegisteredOperation } from '../../src/kernel/contract/operation.ts'
import { roleScopes } from '../../src/kernel/contract/scopes.ts'
import {
  type cases,
  type checkedSender,
  expectHidden,
  hasParameter,
  isWrite,
  withBody,
  type worldsOf,
} from '../support/contract/contract.ts'
import type { HttpResponse } from '../support/harness.ts'

interface Worlds
  extends Pick<
    Awaited<ReturnType<typeof worldsOf>>,
    'owner' | 'sharedWorld' | 'foreignWorld' | 'viewerSession' | 'liveSession' | 'keepSignedIn'
  > {
  readonly send: ReturnType<typeof checkedSender>
}

/** Whether people in the console call it; without a name in the path, only if the request can be wrong. */
const isOpenToPeople = (registered: RegisteredOperation): boolean => {
  const { callers, method, scope } = registered.operation
  return callers.includes('console') && (method !== 'GET' || scope !== undefined || hasParameter(registered))
}

/** A person does not read a key's conversation, nor the other way round. */
const OF_WHO_ASKS = new Set(['canvas.get'])

/** Calls the operations that are open to people in the console, with a session's cookie. */
export function testConsoleCallers(called: typeof cases, { owner, send, ...worlds }: Worlds): void {
  const { sharedWorld, foreignWorld, viewerSession, liveSession, keepSignedIn } = worlds
  const { session } = owner

  describe.each(called.filter(([, registered]) => isOpenToPeople(registered)))(
    'for a person in the console %s',
    (_, registered) => {
      const { callers, method, scope } = registered.operation
      beforeAll(keepSignedIn)

      const find = async (headers: typeof session, world = sharedWorld): Promise<HttpResponse> => {
        const { path } = await world.prepare(registered)
        return send(registered, path, { headers, ...withBody((await sharedWorld.prepare(registered)).body) })
      }

      if (method !== 'GET')
        test('is a 403 where another page has sent the cookie', async () => {
          const { cookie = '' } = session
          for (const headers of [{ cookie }, { cookie, 'sec-fetch-site': 'cross-site', origin: 'null' }]) {
            const answer = await find(headers)
            expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'cross_site'])
          }
        })

      if (scope && !roleScopes.viewer.has(scope))
        test('is a 403 that names the scope which the role lacks', async () => {
          const answer = await find(viewerSession)
          expect([answer.status, answer.headers.get('x-error-code')]).toEqual([403, 'missing_scope'])
          expect(answer.body.error).toContain(scope)
        })

      if (callers.includes('key') && !isWrite(registered) && !OF_WHO_ASKS.has(registered.key))
        test('answers as it does a key', async () => {
          const { path } = await sharedWorld.prepare(registered)
          const byKey = await send(registered, path, { token: owner.key })
          expect((await find(session)).status).toBe(byKey.status)
        })

      if (hasParameter(registered)) {
        test('finds nothing under another owner’s id', async () => {
          const { path } = await sharedWorld.prepare(registered)
          expectHidden(path, await find(session, foreignWorld))
        })

        test('finds nothing under an id of the other mode', async () => {
          const { path } = await sharedWorld.prepare(registered)
          expectHidden(path, await find(liveSession))
        })
      }
    },
  )
}
