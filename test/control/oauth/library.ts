import { describe, expect, test } from '@jest/globals'
import * as oauth from 'oauth4webapi'
import { CALLBACK, consentTo, post, resourceAt } from '../../support/control/assistants.ts'
import { until } from '../../support/until.ts'
import { anOwnerAtTheBrowser, type OwnerAtTheBrowser, url, withoutBudget } from './people.ts'

const insecure = { [oauth.allowInsecureRequests]: true }
const withoutSecret = oauth.None()

/** Finds the server from the resource alone, and registers. */
async function aClient() {
  const resource = new URL(await resourceAt(url))
  const found = await oauth.resourceDiscoveryRequest(resource, insecure)
  const { authorization_servers: [issuer = ''] = [] } = await oauth.processResourceDiscoveryResponse(
    resource,
    found,
  )
  const answer = await oauth.discoveryRequest(new URL(issuer), { algorithm: 'oauth2', ...insecure })
  const server = await oauth.processDiscoveryResponse(new URL(issuer), answer)
  const metadata = { client_name: 'Library', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' }
  const registered = await oauth.dynamicClientRegistrationRequest(server, metadata, insecure)
  const client = await oauth.processDynamicClientRegistrationResponse(registered)
  return { server, client: client as oauth.Client, resource }
}

type Registered = Awaited<ReturnType<typeof aClient>>

/** The person approves; returns the address to which the browser is sent. */
async function approvedAnswer(
  owner: OwnerAtTheBrowser,
  { client, resource }: Registered,
  state: string,
  more: Readonly<Record<string, string>> = {},
) {
  const verifier = oauth.generateRandomCodeVerifier()
  const query = {
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    resource: resource.href,
    ...more,
  }
  const { ticket } = await consentTo(owner.person, { query, verifier })
  const body = { ticket, scopes: ['payer'], ...withoutBudget(owner) }
  const { body: answer } = await post(url, '/oauth/approve', body, owner.person.headers)
  return { answeredAt: new URL(answer.redirectTo), verifier }
}

type Options = Parameters<typeof oauth.authorizationCodeGrantRequest>[6]

async function signedIn(options: Options = {}, more: Readonly<Record<string, string>> = {}) {
  const owner = await anOwnerAtTheBrowser()
  const registered = await aClient()
  const { server, client } = registered
  const state = oauth.generateRandomState()
  const { answeredAt, verifier } = await approvedAnswer(owner, registered, state, more)
  const checked = oauth.validateAuthResponse(server, client, answeredAt, state)
  const redeem = () =>
    oauth.authorizationCodeGrantRequest(server, client, withoutSecret, checked, CALLBACK, verifier, {
      ...insecure,
      ...options,
    })
  const tokens = await oauth.processAuthorizationCodeResponse(server, client, await redeem())
  return { ...registered, owner, redeem, tokens }
}

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })

const useAt = (resource: URL, token: string, options: object = {}) => {
  const headers = new Headers({
    accept: 'application/json, text/event-stream',
    'content-type': 'application/json',
  })
  return oauth.protectedResourceRequest(token, 'POST', resource, headers, LIST, { ...insecure, ...options })
}

const isEnded = (resource: URL, token: string, options: object = {}) =>
  until('the token is refused', () =>
    useAt(resource, token, options).then(
      () => false,
      () => true,
    ),
  )

describe('a certified library', () => {
  test('finds the server, registers, signs in, renews and revokes', async () => {
    const { server, client, resource, tokens } = await signedIn()
    expect((await useAt(resource, tokens.access_token)).status).toBe(200)
    const renewing = await oauth.refreshTokenGrantRequest(
      server,
      client,
      withoutSecret,
      String(tokens.refresh_token),
      insecure,
    )
    const renewed = await oauth.processRefreshTokenResponse(server, client, renewing)
    expect((await useAt(resource, renewed.access_token)).status).toBe(200)
    const token = String(renewed.refresh_token)
    const revoked = await oauth.revocationRequest(server, client, withoutSecret, token, insecure)
    await oauth.processRevocationResponse(revoked)
    await isEnded(resource, renewed.access_token)
  })

  test('notices an answer of another server, and another state (mix-up)', async () => {
    const owner = await anOwnerAtTheBrowser()
    const registered = await aClient()
    const { server, client } = registered
    const { answeredAt } = await approvedAnswer(owner, registered, 'its-state')
    const other = { ...server, issuer: 'https://other.example.com' }
    expect(() => oauth.validateAuthResponse(other, client, answeredAt, 'its-state')).toThrow('issuer')
    expect(() => oauth.validateAuthResponse(server, client, answeredAt, 'another')).toThrow('state')
    const unsigned = new URL(answeredAt)
    unsigned.searchParams.delete('iss')
    expect(() => oauth.validateAuthResponse(server, client, unsigned, 'its-state')).toThrow('iss')
  })

  test('cannot replay a code, and the replay ends the tokens', async () => {
    const { server, client, resource, redeem, tokens } = await signedIn()
    const again = oauth.processAuthorizationCodeResponse(server, client, await redeem())
    await expect(again).rejects.toMatchObject({ error: 'invalid_grant' })
    await isEnded(resource, tokens.access_token)
  })

  test('cannot use the code or the refresh token of another client (confused deputy)', async () => {
    const owner = await anOwnerAtTheBrowser()
    const [registered, { client: thief }] = [await aClient(), await aClient()]
    const { server, client } = registered
    const { answeredAt, verifier } = await approvedAnswer(owner, registered, 'state')
    const checked = oauth.validateAuthResponse(server, client, answeredAt, 'state')
    const stolen = await oauth.authorizationCodeGrantRequest(
      server,
      thief,
      withoutSecret,
      checked,
      CALLBACK,
      verifier,
      insecure,
    )
    await expect(oauth.processAuthorizationCodeResponse(server, thief, stolen)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
    const { tokens } = await signedIn()
    const token = String(tokens.refresh_token)
    const renewing = await oauth.refreshTokenGrantRequest(server, thief, withoutSecret, token, insecure)
    await expect(oauth.processRefreshTokenResponse(server, thief, renewing)).rejects.toMatchObject({
      error: 'invalid_grant',
    })
  })
})

describe('a client that proves its key (DPoP)', () => {
  const aKey = async () => oauth.DPoP({}, await oauth.generateKeyPair('ES256'))

  test('gets tokens that work with this key only', async () => {
    const DPoP = await aKey()
    const { server, resource, tokens } = await signedIn({ DPoP })
    expect([tokens.token_type, server.dpop_signing_alg_values_supported]).toEqual([
      'dpop',
      expect.arrayContaining(['ES256', 'EdDSA']),
    ])
    expect((await useAt(resource, tokens.access_token, { DPoP })).status).toBe(200)
    await expect(useAt(resource, tokens.access_token)).rejects.toThrow()
    await expect(useAt(resource, tokens.access_token, { DPoP: await aKey() })).rejects.toThrow()
  })

  test('sends them as DPoP only: as Bearer, a valid proof does not help', async () => {
    const DPoP = await aKey()
    const { resource, tokens } = await signedIn({ DPoP })
    const asBearer = (address: string, init: { headers?: unknown }) => {
      const headers = new Headers(init.headers as Headers)
      headers.set('authorization', `Bearer ${tokens.access_token}`)
      return fetch(address, { ...init, headers } as never)
    }
    const options = { DPoP, [oauth.customFetch]: asBearer }
    await expect(useAt(resource, tokens.access_token, options)).rejects.toThrow()
    expect((await useAt(resource, tokens.access_token, { DPoP })).status).toBe(200)
  })

  test('binds its code to the key, so that no other key redeems it', async () => {
    const DPoP = await aKey()
    const bound = { dpop_jkt: await DPoP.calculateThumbprint() }
    expect((await signedIn({ DPoP }, bound)).tokens.token_type).toBe('dpop')
    for (const options of [{ DPoP: await aKey() }, {}])
      await expect(signedIn(options, bound)).rejects.toMatchObject({ error: 'invalid_grant' })
  })

  test('renews them with this key only', async () => {
    const DPoP = await aKey()
    const { server, client, tokens } = await signedIn({ DPoP })
    const renew = (options: object) =>
      oauth
        .refreshTokenGrantRequest(server, client, withoutSecret, String(tokens.refresh_token), {
          ...insecure,
          ...options,
        })
        .then(answer => oauth.processRefreshTokenResponse(server, client, answer))
    await expect(renew({})).rejects.toMatchObject({ error: 'invalid_grant' })
    await expect(renew({ DPoP: await aKey() })).rejects.toMatchObject({ error: 'invalid_grant' })
    expect((await renew({ DPoP })).token_type).toBe('dpop')
  })

  test('cannot use a proof twice, or for another address', async () => {
    const DPoP = await aKey()
    let sent = new Headers()
    const remember = (address: string, init: { headers?: unknown }) => {
      sent = new Headers(init.headers as Headers)
      return fetch(address, init as never)
    }
    const { resource, tokens } = await signedIn({ DPoP })
    await useAt(resource, tokens.access_token, { DPoP, [oauth.customFetch]: remember })
    expect((await fetch(resource, { method: 'POST', headers: sent, body: LIST })).status).toBe(401)
    const proof = String(sent.get('dpop'))
    const body = new URLSearchParams({ grant_type: 'refresh_token', client_id: 'x', refresh_token: 'x' })
    const refused = await fetch(`${url}/oauth/token`, { method: 'POST', headers: { dpop: proof }, body })
    expect(await refused.json()).toEqual({ error: 'invalid_dpop_proof' })
  })
})
