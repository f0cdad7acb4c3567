import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { anAuthorization, CALLBACK, openConsent, post } from '../../support/control/assistants.ts'
import { until } from '../../support/until.ts'
import { anOwnerAtTheBrowser, type OwnerAtTheBrowser, service, url } from './people.ts'

const document = { client_name: 'Claude', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }

/** What the publisher of metadata answers, by path. */
const answers: Readonly<
  Record<string, (own: string) => readonly [status: number, body: string, type?: string]>
> = {
  '/good.json': own => [200, JSON.stringify({ ...document, client_id: own })],
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

const answerAt = (path: string) => answers[path.replace(/\?.*/, '').replace(/^\/slow/, '')]

const open = async (path: string, { person }: Pick<OwnerAtTheBrowser, 'person'>) => {
  const page = await openConsent(person, await anAuthorization(url, { client_id: base + path }))
  return { status: page.status, again: page.headers.get('retry-after'), text: await page.text() }
}

const openByAnother = async (path: string) => open(path, await anOwnerAtTheBrowser())

describe('a metadata document', () => {
  test('proves the host of a client, and is fetched once for many requests', async () => {
    const [one, other] = [await openByAnother('/good.json'), await openByAnother('/good.json')]
    expect([one.status, other.status]).toEqual([200, 200])
    expect(one.text).toContain('Verified host')
    expect(one.text).toContain(new URL(base).host)
    expect(one.text).not.toContain('nothing proves it')
    expect(requests.filter(path => path === '/good.json')).toHaveLength(1)
  })

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
    'not an address',
  ])('refuses the address %s', async address => {
    expect((await register({ redirect_uris: [address] })).body).toEqual({ error: 'invalid_redirect_uri' })
  })

  test('expires if no person connects it', async () => {
    const { body } = await register({ redirect_uris: [CALLBACK] })
    await service.sql(`update oauth_clients set unused_until = now() - interval '1 second' where id = $1`, [
      body.client_id,
    ])
    const { person } = await anOwnerAtTheBrowser()
    const asked = await anAuthorization(url, { client_id: body.client_id })
    expect((await openConsent(person, asked)).status).toBe(400)
  })
})
