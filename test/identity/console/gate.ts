import type { IncomingMessage } from 'node:http'
import { describe, expect, test } from '@jest/globals'
import { createAuthenticator } from '../../../src/derive/http/authenticate.ts'
import { readRequestCredentials } from '../../../src/derive/http/request-credentials.ts'
import type { Actor } from '../../../src/kernel/contract/actor.ts'
import { emptyBody, get, post } from '../../../src/kernel/contract/operation.ts'

const OURS = 'https://pay.example.com'
const SECRET = `con_${'a'.repeat(43)}`
const COOKIE = `theme=dark; __Host-session=${SECRET}`

const person: Actor = {
  type: 'console',
  id: 'person_1',
  tenant: { ownerId: 'customer_1', mode: 'live' },
  agentId: null,
  scopes: new Set(['agents:read', 'agents:write']),
}

const shared = { summary: 'x', callers: ['key'], returns: [204, emptyBody] } as const
const reads = get('/things', { ...shared, scope: 'agents:read' })
const writes = post('/things', { ...shared, scope: 'agents:write' })
const signsIn = post('/sign-in', {
  ...shared,
  callers: ['public'],
  http: { headers: { 204: { 'Set-Cookie': 'The session.' } } },
})
const asksForPasskey = post('/sign-in/options', { ...shared, callers: ['public'], requires: 'passkeys' })

/** The result of a request with these headers: the caller's kind or the refusal, and the look-ups. */
async function cameOf(
  operation: typeof reads | typeof writes | typeof signsIn | typeof asksForPasskey,
  headers: Readonly<Record<string, string>>,
  { method = operation.method as string, origins = [OURS, 'https://shop.example'] } = {},
) {
  const lookedUp: string[] = []
  const enter = createAuthenticator(
    {
      async holderOf(secret, isBackground) {
        lookedUp.push(isBackground ? `${secret} in the background` : secret)
        return secret === SECRET ? person : undefined
      },
    },
    'the dashboard secret',
    async () => undefined,
  )
  const request = { method, headers } as unknown as IncomingMessage
  const presented = readRequestCredentials(
    request,
    () => origins as [string],
    () => [],
  )
  const answer = await enter(operation, presented).then(
    ({ type }) => type,
    ({ status, code }) => `${status} ${code}`,
  )
  return { answer, lookedUp }
}

describe('a request with the cookie of a session', () => {
  test.each([
    ['our page', { 'sec-fetch-site': 'same-origin' }, 'console'],
    [
      'our page, in a browser that names the origin too',
      { 'sec-fetch-site': 'same-origin', origin: OURS },
      'console',
    ],
    ['our page, in a browser that names its origin only', { origin: OURS }, 'console'],
    ['another page of ours, in such a browser', { origin: 'https://shop.example' }, 'console'],
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, '403 cross_site'],
    [
      'another site that claims our origin',
      { 'sec-fetch-site': 'cross-site', origin: OURS },
      '403 cross_site',
    ],
    [
      'a neighbour below the same domain',
      { 'sec-fetch-site': 'same-site', origin: 'https://x.example.com' },
      '403 cross_site',
    ],
    ['nowhere, as from the address bar', { 'sec-fetch-site': 'none' }, '403 cross_site'],
    [
      'another site, in a browser that names its origin only',
      { origin: 'https://evil.example' },
      '403 cross_site',
    ],
    ['an origin that begins like ours', { origin: `${OURS}.evil.example` }, '403 cross_site'],
    ['our host by http', { origin: 'http://pay.example.com' }, '403 cross_site'],
    ['a sandboxed frame', { origin: 'null' }, '403 cross_site'],
    ['a program that tells nothing', {}, '403 cross_site'],
    ['a browser that says it twice', { 'sec-fetch-site': 'same-origin, cross-site' }, '403 cross_site'],
  ])('from %s', async (_, headers: Record<string, string>, expected) => {
    const { answer, lookedUp } = await cameOf(writes, { ...headers, cookie: COOKIE })
    // Refused by its origin, which reveals nothing about the session.
    expect([answer, lookedUp.length]).toEqual([expected, expected === 'console' ? 1 : 0])
    expect((await cameOf(reads, { ...headers, cookie: COOKIE })).answer).toBe('console')
    expect((await cameOf(reads, { ...headers, cookie: COOKIE }, { method: 'HEAD' })).answer).toBe('console')
    for (const begins of [signsIn, asksForPasskey])
      expect((await cameOf(begins, headers)).answer).toBe(expected === 'console' ? 'public' : expected)
  })

  test('distinguishes background requests from requests of a person', async () => {
    const background = { cookie: COOKIE, 'x-background': 'true' }
    expect((await cameOf(reads, background)).lookedUp).toEqual([`${SECRET} in the background`])
    expect((await cameOf(reads, { cookie: COOKIE })).lookedUp).toEqual([SECRET])
  })

  test('uses the session only without a key or the dashboard secret', async () => {
    for (const headers of [{ authorization: 'Bearer sk_test_wrong' }, { 'x-dashboard-secret': 'wrong' }])
      expect((await cameOf(reads, { ...headers, cookie: COOKIE })).answer).toBe('401 unauthenticated')
  })

  test('is the only way: as a token the secret opens nothing', async () => {
    const { answer, lookedUp } = await cameOf(reads, { authorization: `Bearer ${SECRET}` })
    expect([answer, lookedUp]).toEqual(['401 unauthenticated', []])
  })

  test.each([
    ['another name', `session=${SECRET}`],
    ['a longer name', `x__Host-session=${SECRET}`],
    ['a key in it', '__Host-session=sk_test_0123456789'],
    ['nothing in it', '__Host-session='],
  ])('of %s is none', async (_, cookie) => {
    const { answer, lookedUp } = await cameOf(reads, { cookie })
    expect([answer, lookedUp]).toEqual(['401 unauthenticated', []])
  })

  test('has another name at localhost, where it is not sent by https', async () => {
    const origins = ['http://localhost:3000']
    expect((await cameOf(reads, { cookie: `session=${SECRET}` }, { origins })).answer).toBe('console')
    expect((await cameOf(reads, { cookie: COOKIE }, { origins })).answer).toBe('401 unauthenticated')
  })
})
