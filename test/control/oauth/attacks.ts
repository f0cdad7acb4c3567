import { describe, expect, test } from '@jest/globals'
import {
  anAuthorization,
  approvedCode,
  aRegisteredClient,
  CALLBACK,
  connect,
  consentTo,
  form,
  openConsent,
  post,
} from '../../support/control/assistants.ts'
import { bodyOf } from '../../support/factories.ts'
import { aCode, anOwnerAtTheBrowser, listTools, url, withoutBudget } from './people.ts'

const redeem = (request: Readonly<Record<string, string>>) => form(url, '/oauth/token', request)
const INVALID_GRANT = { status: 400, body: { error: 'invalid_grant' } }

describe('a code', () => {
  test('that is used twice ends the grant', async () => {
    const code = await aCode(await anOwnerAtTheBrowser())
    const { access_token } = await connect(url, code)
    expect(await redeem(code.request)).toEqual(INVALID_GRANT)
    await new Promise(resolve => setTimeout(resolve, 150))
    expect((await listTools(access_token)).status).toBe(401)
  })

  test('gets its tokens once, however many ask at a time', async () => {
    const code = await aCode(await anOwnerAtTheBrowser())
    const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(code.request)))
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(1)
    expect(await redeem(code.request)).toEqual(INVALID_GRANT)
  })

  test.each([
    ['of another client', { client_id: 'client_00000000000000000000000000' }],
    ['for another address', { redirect_uri: `${CALLBACK}/` }],
    ['without the verifier', { code_verifier: '' }],
    ['with another verifier', { code_verifier: 'x'.repeat(43) }],
  ])('%s is refused, and of no use afterwards', async (_, changed) => {
    const { request } = await aCode(await anOwnerAtTheBrowser())
    expect(await redeem({ ...request, ...changed })).toEqual(INVALID_GRANT)
    expect(await redeem(request)).toEqual(INVALID_GRANT)
  })

  test('is not for another resource', async () => {
    const { request } = await aCode(await anOwnerAtTheBrowser())
    expect((await redeem({ ...request, resource: 'https://other.example.com/mcp' })).body).toEqual({
      error: 'invalid_target',
    })
  })
})

test('no other grant is there: neither a password nor the implicit one', async () => {
  for (const grant_type of ['password', 'client_credentials', 'implicit'])
    expect((await redeem({ grant_type, client_id: 'x' })).body).toEqual({ error: 'unsupported_grant_type' })
})

describe('a request', () => {
  test.each([
    ['with a plain challenge', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['without a method', { code_challenge_method: undefined }, 'invalid_request'],
    ['without a challenge', { code_challenge: undefined }, 'invalid_request'],
    ['for a token', { response_type: 'token' }, 'unsupported_response_type'],
    ['in a fragment', { response_mode: 'fragment' }, 'invalid_request'],
    ['for another resource', { resource: 'https://other.example.com/mcp' }, 'invalid_target'],
    ['for no resource', { resource: undefined }, 'invalid_target'],
  ])('%s gets an error page, with a link that tells the client', async (_, changed, error) => {
    const { person } = await anOwnerAtTheBrowser()
    const page = await openConsent(person, await anAuthorization(url, changed))
    const text = await page.text()
    expect([page.status, page.headers.get('location')]).toEqual([400, null])
    expect(text).toContain('Its request has a mistake')
    const link = /<a href="([^"]+)" rel="noreferrer">/.exec(text)?.[1]?.replaceAll('&amp;', '&')
    const { origin, pathname, searchParams } = new URL(String(link))
    expect(origin + pathname).toBe(CALLBACK)
    expect([searchParams.get('error'), searchParams.get('state')]).toEqual([error, 'the-state'])
    expect(searchParams.get('iss')).toMatch(/\/oauth$/)
    expect(searchParams.has('code')).toBe(false)
  })

  test.each([
    ['an unknown client', { client_id: 'client_01jd8x2m4ye7k9v0c3q5r6t8wz' }],
    ['another address', { redirect_uri: 'https://evil.example.com/callback' }],
    ['a longer path', { redirect_uri: `${CALLBACK}/more` }],
    ['a query', { redirect_uri: `${CALLBACK}?next=https://evil.example.com` }],
    ['a port', { redirect_uri: 'https://assistant.example.com:8443/callback' }],
    ['a user', { redirect_uri: 'https://assistant.example.com@evil.example.com/callback' }],
    ['a script', { redirect_uri: 'javascript:alert(1)' }],
    ['a document within the network', { client_id: 'https://169.254.169.254/latest/client.json' }],
  ])('with %s gets an error page, and never leads anywhere', async (_, changed) => {
    const { person } = await anOwnerAtTheBrowser()
    const page = await openConsent(person, await anAuthorization(url, changed))
    expect([page.status, page.headers.get('location')]).toEqual([400, null])
    expect(await page.text()).toContain('This assistant cannot be connected')
  })

  test('is approved once, however many approvals arrive at a time', async () => {
    const owner = await anOwnerAtTheBrowser()
    const { ticket } = await consentTo(owner.person, await anAuthorization(url))
    const body = { ...withoutBudget(owner), ticket, scopes: ['payer'] }
    const approve = () => post(url, '/oauth/approve', body, owner.person.headers)
    const answers = await Promise.all([approve(), approve(), approve()])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 410, 410])
    expect((await approve()).body.error).toMatch(/^ticket: the request has been approved already/)
    expect((await bodyOf(owner.client.connectedAssistants.list({}))).data).toHaveLength(1)
  })

  test('is approved only by the person who has seen it', async () => {
    const [one, other] = [await anOwnerAtTheBrowser(), await anOwnerAtTheBrowser()]
    const { ticket } = await consentTo(one.person, await anAuthorization(url))
    const body = { ticket, scopes: ['payer'], ...withoutBudget(other) }
    expect((await post(url, '/oauth/approve', body, other.person.headers)).status).toBe(410)
  })

  test('is not approved from another site', async () => {
    const owner = await anOwnerAtTheBrowser()
    const { ticket } = await consentTo(owner.person, await anAuthorization(url))
    const headers = { ...owner.person.headers, 'sec-fetch-site': 'cross-site' }
    const body = { ticket, scopes: ['payer'], ...withoutBudget(owner) }
    expect((await post(url, '/oauth/approve', body, headers)).status).toBe(403)
  })
})

test('a token in the query is no credential', async () => {
  const code = await aCode(await anOwnerAtTheBrowser())
  const { access_token } = await connect(url, code)
  const response = await fetch(`${url}/mcp?access_token=${access_token}`, { method: 'POST' })
  expect(response.status).toBe(401)
})

test('an address of the person’s own machine may have any port, and nothing else may differ', async () => {
  const owner = await anOwnerAtTheBrowser()
  const client_id = await aRegisteredClient(url, { redirect_uris: ['http://127.0.0.1/callback'] })
  const asks = (redirect_uri: string) => anAuthorization(url, { client_id, redirect_uri })
  const local = await asks('http://127.0.0.1:53123/callback')
  const { redirectTo } = await approvedCode(owner.person, withoutBudget(owner), local)
  expect(redirectTo.host).toBe('127.0.0.1:53123')
  for (const other of [
    'http://localhost:53123/callback',
    'http://127.0.0.1:1/other',
    'http://127.1/callback',
  ])
    expect((await openConsent(owner.person, await asks(other))).status).toBe(400)
})
