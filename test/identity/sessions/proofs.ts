import { beforeAll, describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { openStream } from '../../support/delivery/event-stream.ts'
import { aKey, bodyOf } from '../../support/factories.ts'
import { http } from '../../support/harness.ts'
import { type ProofKeys, proof, proofKeys } from '../../support/identity/devices.ts'
import { originOf } from '../../support/identity/people.ts'
import { until } from '../../support/until.ts'
import { anActiveDevice, otherProcess, service } from './service.ts'

describe.each(['ES256', 'EdDSA'] as const)('a key that is bound to the %s key of a device', alg => {
  let keys: ProofKeys
  let secret: string
  beforeAll(async () => {
    keys = proofKeys(alg)
    secret = (await anActiveDevice({ publicKeyJwk: keys.publicKeyJwk as never })).key
  })

  const url = () => `${service.url}/customers/me`
  const me = (dpop?: string, at = service.url) =>
    http(at, 'GET', '/customers/me', { token: secret, headers: dpop === undefined ? {} : { dpop } })
  const proven = (claims: object = {}, head: object = {}, by = keys) =>
    proof(by, { method: 'GET', url: url(), secret }, claims as never, head as never)
  const secondsAgo = (seconds: number) => Math.floor(Date.now() / 1_000) - seconds

  test('opens what it may with a proof for the request', async () => {
    expect((await me(proven())).status).toBe(200)
    expect((await me(proven({ htu: `${originOf(service)}/customers/me?with=a#query` }))).status).toBe(200)
    expect((await me(proven({ iat: secondsAgo(50) }))).status).toBe(200)
  })

  test.each<[string, () => string | undefined, string]>([
    ['without a proof', () => undefined, 'missing'],
    ['with a proof for another method', () => proven({ htm: 'POST' }), 'htm'],
    ['with a proof for another address', () => proven({ htu: `${service.url}/agents` }), 'htu'],
    ['with a proof for another host', () => proven({ htu: 'https://evil.example/customers/me' }), 'htu'],
    ['with a proof that is an hour old', () => proven({ iat: secondsAgo(3_600) }), 'iat'],
    ['with a proof from the future', () => proven({ iat: secondsAgo(-120) }), 'iat'],
    ['with a proof for another key of ours', () => proven({ ath: 'A'.repeat(43) }), 'ath'],
    ['with a proof by another device', () => proven({}, {}, proofKeys(alg)), 'another key'],
    [
      'with the public key of the device, and the signature of another',
      () => proven({}, {}, { ...proofKeys(alg), publicKeyJwk: keys.publicKeyJwk }),
      'signature',
    ],
    ['with a proof that nobody has signed', () => proven({}, { alg: 'none' }), 'alg'],
    ['with a proof signed by a shared secret', () => proven({}, { alg: 'HS256' }), 'alg'],
    ['with a token that is no proof', () => proven({}, { typ: 'JWT' }), 'no proof'],
    ['with a proof without a name', () => proven({ jti: '' }), 'no proof'],
    ['with a proof of extensions that we do not know', () => proven({}, { crit: ['exp'] }), 'no proof'],
    ['with two proofs', () => `${proven()}, ${proven()}`, 'no proof'],
    ['with garbage', () => 'a.b.c', 'no proof'],
  ])('opens nothing %s', async (_, make, why) => {
    const { status, headers, body } = await me(make())
    expect([status, headers.get('x-error-code')]).toEqual([401, 'invalid_dpop_proof'])
    expect(body.error).toContain(why)
    expect(headers.get('www-authenticate')).toMatch(/^DPoP error="invalid_dpop_proof", algs="ES256/)
  })

  test('of twenty that send one proof at once to two processes, lets one in', async () => {
    const one = proven({ htu: url() })
    const other = proven({ htu: `${otherProcess}/customers/me` })
    const answers = await times(20, () => me(one))
    expect(statusCounts(answers)).toEqual({ 200: 1, 401: 19 })
    expect((await me(other, otherProcess)).status).toBe(200)
    expect((await me(other, otherProcess)).body.error).toContain('used before')
  })

  test('lets a name be used once in all processes', async () => {
    const jti = `once for ${alg}`
    const there = { jti, htu: `${otherProcess}/customers/me` }
    const answers = await Promise.all([me(proven({ jti })), me(proven(there), otherProcess)])
    expect(statusCounts(answers)).toEqual({ 200: 1, 401: 1 })
  })

  test('opens a stream of events with a proof for each connection', async () => {
    const dpop = proof(keys, { method: 'GET', url: `${service.url}/events/stream`, secret })
    const streams = [
      await openStream(service.url, { token: secret, headers: { dpop } }),
      await openStream(service.url, { token: secret, headers: { dpop } }),
      await openStream(service.url, { token: secret }),
      await openStream(service.url, { token: secret, headers: { dpop: proven() } }),
    ]
    expect(streams.map(({ status }) => status)).toEqual([200, 401, 401, 401])
    const { body } = await http(service.url, 'POST', '/policies', {
      token: secret,
      headers: { dpop: proof(keys, { method: 'POST', url: `${service.url}/policies`, secret }) },
      body: { name: 'Research' },
    })
    await until('an event has come', () => streams[0]?.events.some(({ data }) => data.policyId === body.id))
    const again = await openStream(service.url, {
      token: secret,
      headers: { dpop: proof(keys, { method: 'GET', url: `${service.url}/events/stream`, secret }) },
      lastEventId: streams[0]?.ids.at(-1),
    })
    expect(again.status).toBe(200)
    for (const stream of [...streams, again]) stream.close()
  })

  test('replaces no key that works without the proof of the device', async () => {
    const { owner, key } = await anActiveDevice({ publicKeyJwk: keys.publicKeyJwk as never })
    const { id } = await aKey(owner.client, { scopes: ['agents:read'] })
    const rotate = (keyId: string) =>
      http(service.url, 'POST', `/keys/${keyId}/rotate`, {
        token: key,
        headers: {
          dpop: proof(keys, { method: 'POST', url: `${service.url}/keys/${keyId}/rotate`, secret: key }),
        },
        body: {},
      })
    const refused = await rotate(id)
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([403, 'binding_not_held'])
    const own = (await bodyOf(owner.client.keys.list({}))).data.find(({ boundTo }) => boundTo !== null)
    expect((await rotate(String(own?.id))).body).toMatchObject({ boundTo: own?.boundTo })
  })

  test('makes keys that are bound to the same one', async () => {
    const dpop = proof(keys, { method: 'POST', url: `${service.url}/keys`, secret })
    const body = { name: 'Build server', environment: 'sandbox' }
    const made = await http(service.url, 'POST', '/keys', { token: secret, headers: { dpop }, body })
    expect(made.status).toBe(201)
    expect(made.body.boundTo).toMatch(/^[\w-]{43}$/)
    expect((await http(service.url, 'GET', '/customers/me', { token: made.body.key })).status).toBe(401)
  })

  test('makes tokens of agents only for a key that the request names, and that key proves their requests', async () => {
    const call = (path: string, body: object) =>
      http(service.url, 'POST', path, {
        token: secret,
        headers: { dpop: proof(keys, { method: 'POST', url: service.url + path, secret }) },
        body,
      })
    const { body: agent } = await call('/agents', { name: 'Bound' })
    const path = `/agents/${agent.id}/tokens`
    const refused = await call(path, { label: 'Laptop' })
    expect([refused.status, refused.headers.get('x-error-code')]).toEqual([403, 'binding_needed'])
    const own = proofKeys(alg)
    const made = await call(path, { label: 'Laptop', publicKeyJwk: own.publicKeyJwk })
    expect([made.status, made.body.boundTo]).toEqual([201, expect.stringMatching(/^[\w-]{43}$/)])
    const { token } = made.body
    const read = (by?: ProofKeys) => {
      const url = `${service.url}/agents/${agent.id}`
      const headers = by ? { dpop: proof(by, { method: 'GET', url, secret: token }) } : {}
      return http(service.url, 'GET', `/agents/${agent.id}`, { token, headers })
    }
    expect([(await read()).status, (await read(keys)).status, (await read(own)).status]).toEqual([
      401, 401, 200,
    ])
    const wanted = { agentId: agent.id, maxAmountEuros: 5, expiresInMinutes: 60 }
    const delegation = await call('/delegations', wanted)
    expect([delegation.status, delegation.headers.get('x-error-code')]).toEqual([403, 'binding_not_held'])
  })
})
