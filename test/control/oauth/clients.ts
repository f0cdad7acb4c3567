import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { MAX_UNSEEN_CLIENTS } from '../../../src/control/oauth/client.ts'
import {
  anAuthorization,
  aRegisteredClient,
  CALLBACK,
  openConsent,
  post,
} from '../../support/control/assistants.ts'
import { until } from '../../support/until.ts'
import { aCode, anOwnerAtTheBrowser, type OwnerAtTheBrowser as Owner, service, url } from './people.ts'

const document = { client_name: 'Claude', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }
const good = (own: string) => ({
  ...document,
  client_id: own,
  redirect_uris: [CALLBACK, ownCallback, 'http://127.0.0.1/callback', 'cursor://auth/callback'],
})

/** What the publisher of metadata answers, by path. */
const answers: Readonly<
  Record<string, (own: string) => readonly [status: number, body: string, type?: string]>
> = {
  '/good.json': own => [200, JSON.stringify(good(own))],
  '/of-another.json': () => [
    200,
    JSON.stringify({ ...document, client_id: 'https://claude.ai/client.json' }),
  ],
  '/secret.json': own => [
    200,
    JSON.stringify({ ...document, client_id: own, token_endpoint_auth_method: 'client_secret_post' }),
  ],
  '/large.json': own => [200, JSON.stringify({ ...document, client_id: own, padding: 'x'.repeat(20_000) })],
  '/page.html': own => [200, JSON.stringify({ ...document, client_id: own }), 'text/html'],
  '/missing.json': () => [404, '{}'],
  '/broken.json': () => [200, '{'],
}

const requests: string[] = []
let hold: Promise<void> | undefined
const publisher = createServer(async (request, response) => {
  const path = String(request.url)
  requests.push(path)
  if (path.startsWith('/slow')) await hold
  const [status, body, type = 'application/json'] = answerAt(path)?.(base + path) ?? [302, '']
  response.writeHead(status, { 'content-type': type, location: '/good.json' }).end(body)
})
await new Promise<void>(resolve => publisher.listen(0, '127.0.0.1', () => resolve()))
const base = `http://127.0.0.1:${(publisher.address() as AddressInfo).port}`
afterAll(() => {
  publisher.close()
  publisher.closeAllConnections()
})

const ownCallback = `${base.replace('http:', 'https:')}/callback`
const answerAt = (path: string) => answers[path.replace(/\?.*/, '').replace(/^\/slow/, '')]

const open = async (path: string, { person }: Pick<Owner, 'person'>, redirect_uri = CALLBACK) => {
  const page = await openConsent(person, await anAuthorization(url, { client_id: base + path, redirect_uri }))
  return { status: page.status, again: page.headers.get('retry-after'), text: await page.text() }
}

const openByAnother = async (path: string, redirectUri?: string) =>
  open(path, await anOwnerAtTheBrowser(), redirectUri)

describe('a metadata document', () => {
  test('proves the host of a client whose answers go there, and is fetched once for many requests', async () => {
    const one = await openByAnother('/good.json', ownCallback)
    const other = await openByAnother('/good.json', ownCallback)
    expect([one.status, other.status]).toEqual([200, 200])
    expect(one.text).toContain('Verified host')
    expect(one.text).toContain(new URL(base).host)
    expect(one.text).not.toContain('nothing proves it')
    expect(one.text).toContain('class="mark approved"')
    expect(requests.filter(path => path === '/good.json')).toHaveLength(1)
  })

  test.each([CALLBACK, 'http://127.0.0.1:1455/callback', 'cursor://auth/callback'])(
    'proves nothing to a person whose answer goes to %s',
    async redirectUri => {
      const { text } = await openByAnother('/good.json', redirectUri)
      expect(text).toContain('Not verified')
      expect(text).not.toContain('Verified host')
      expect(text).not.toContain(`<dd>${new URL(base).host}</dd>`)
      expect(text).toContain('class="mark unknown"')
    },
  )

  test.each([
    '/of-another.json',
    '/secret.json',
    '/large.json',
    '/page.html',
    '/missing.json',
    '/broken.json',
    '/redirected.json',
  ])('%s is not used', async path => {
    expect((await openByAnother(path)).status).toBe(400)
  })
})

describe('a host that does not answer an owner’s requests', () => {
  test('answers those of another owner, and the next one of the first is no failure of the client', async () => {
    const [one, other] = [await anOwnerAtTheBrowser(), await anOwnerAtTheBrowser()]
    const { promise, resolve } = Promise.withResolvers<void>()
    hold = promise
    const waiting = [1, 2, 3, 4].map(n => open(`/slow/good.json?${n}`, one))
    await until('four requests are unanswered', () => requests.filter(isSlow).length === 4)
    const fifth = await open('/slow/good.json?5', one)
    expect([fifth.status, fifth.again]).toEqual([503, '5'])
    const beside = open('/slow/good.json?6', other)
    await until('the request of the other owner arrives', () => requests.filter(isSlow).length === 5)
    resolve()
    const answers = await Promise.all([...waiting, beside])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect((await open('/slow/good.json?5', one)).status).toBe(200)
  })

  const isSlow = (path: string) => path.startsWith('/slow')

  test('leaves what another owner has read', async () => {
    await openByAnother('/good.json?kept')
    const one = await anOwnerAtTheBrowser()
    for (let n = 0; n < 25; n++) await open(`/good.json?${n}`, one)
    const readOf = (path: string) => requests.filter(asked => asked === path).length
    await openByAnother('/good.json?kept')
    expect(readOf('/good.json?kept')).toBe(1)
    // The first of its own has made room for the last.
    await open('/good.json?24', one)
    await open('/good.json?0', one)
    expect([readOf('/good.json?24'), readOf('/good.json?0')]).toEqual([1, 2])
  })
})

describe('a registration', () => {
  const register = (members: object) => post(url, '/oauth/register', members)

  test('ignores what it does not know, and gives no secret', async () => {
    const asked = {
      client_name: 'ChatGPT',
      redirect_uris: [CALLBACK, 'cursor://auth/callback'],
      token_endpoint_auth_method: 'client_secret_basic',
      logo_uri: 'https://assistant.example.com/logo.png',
    }
    const { status, body } = await register(asked)
    expect([status, body]).toEqual([
      201,
      {
        client_id: expect.stringMatching(/^client_[0-9a-z]{26}$/),
        client_id_issued_at: expect.any(Number),
        client_name: 'ChatGPT',
        redirect_uris: asked.redirect_uris,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ])
  })

  test.each([
    'http://assistant.example.com/callback',
    'javascript:alert(1)',
    'ms-msdt:/id-PCWDiagnostic',
    'search-ms:query=evil',
    'data:text/html,x',
    'https://assistant.example.com/callback#fragment',
    'https://user@assistant.example.com/callback',
    'assistant:/callback',
    'x-apple-helpbasic:evil',
    'zoommtg://assistant.example.com/join',
    'steam://run/1',
    'vscode-web://callback',
    '.app:/callback',
    'app.:/callback',
    'not an address',
  ])('refuses the address %s', async address => {
    expect((await register({ redirect_uris: [address] })).body).toEqual({ error: 'invalid_redirect_uri' })
  })

  test.each([
    'com.example.assistant:/callback',
    'com.example.assistant://callback',
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://publisher.extension/callback',
    'vscode-insiders://publisher.extension/callback',
    'windsurf://callback',
    'claude://callback',
    'http://localhost:1455/callback',
    'http://[::1]/callback',
  ])('takes the address %s', async address => {
    expect((await register({ redirect_uris: [address] })).status).toBe(201)
  })

  const minutesLeft = async (id: string): Promise<number | null> => {
    const [row] = await service.sql<{ left: number | null }>(
      `select round(extract(epoch from unused_until - now()) / 60)::int as left from oauth_clients where id = $1`,
      [id],
    )
    return row ? row.left : 0
  }
  const openedBy = async ({ person }: Owner, client_id: string) =>
    openConsent(person, await anAuthorization(url, { client_id }))

  test('expires in minutes if no person opens the page of consent, then in an hour, and never once it is connected', async () => {
    const owner = await anOwnerAtTheBrowser()
    const client_id = await aRegisteredClient(url)
    expect(await minutesLeft(client_id)).toBe(15)
    expect((await openedBy(owner, client_id)).status).toBe(200)
    expect(await minutesLeft(client_id)).toBe(60)
    await aCode(owner, await anAuthorization(url, { client_id }))
    expect(await minutesLeft(client_id)).toBeNull()
    const forgotten = await aRegisteredClient(url)
    await service.sql(`update oauth_clients set unused_until = now() - interval '1 second' where id = $1`, [
      forgotten,
    ])
    expect((await openedBy(owner, forgotten)).status).toBe(400)
  })

  test('makes room for newer ones of its address, the oldest first, and none that a person has opened', async () => {
    const owner = await anOwnerAtTheBrowser()
    const [opened, oldest] = [await aRegisteredClient(url), await aRegisteredClient(url)]
    expect((await openedBy(owner, opened)).status).toBe(200)
    const newer: string[] = []
    for (let n = 0; n < MAX_UNSEEN_CLIENTS; n++) newer.push(await aRegisteredClient(url))
    expect((await openedBy(owner, oldest)).status).toBe(400)
    for (const id of [opened, newer[0], newer.at(-1)])
      expect((await openedBy(owner, String(id))).status).toBe(200)
  })
})
