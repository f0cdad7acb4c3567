import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { APPLICATION, aMerchant } from '../support/compliance/merchants.ts'
import { bodyOf } from '../support/factories.ts'
import { type RequestOptions, startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })
const { merchantApplications: applications } = service.dash

const as = (token: string, method: string, path: string, options: RequestOptions = {}) =>
  service.http(method, path, { token, ...options })

const eventsOf = (merchantId: string) =>
  service.sql<{ event: string; owner: string; data: object }>(
    `select event, owner_id || ' ' || mode as owner, data from events where data ->> 'merchantId' = $1 order by id`,
    [merchantId],
  )

describe('the application of a merchant', () => {
  test('is approved once of ten at once, and its key opens what is the merchant’s own', async () => {
    const { id, status } = await bodyOf(applications.create({ body: APPLICATION }))
    expect(status).toBe('submitted')
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => applications.approve({ params: { id } })),
    )
    const [approved] = answers.filter(answer => answer.status === 200)
    expect(answers.filter(answer => answer.status === 400)).toHaveLength(9)
    const { key } = (approved as { body: { key: string } }).body
    expect(key).toMatch(/^mer_\w{43}$/)
    const me = await as(key, 'GET', '/merchants/me')
    expect([me.status, me.body.id, me.body.name, me.body.contactEmail]).toEqual([
      200,
      id,
      'Bookshop',
      undefined,
    ])
    expect((await as(key, 'GET', '/wallets')).headers.get('x-error-code')).toBe('wrong_caller')
    expect((await as(key, 'GET', '/events')).headers.get('x-error-code')).toBe('wrong_caller')
    const events = await eventsOf(id)
    expect(events.map(({ event, owner }) => [event, owner])).toEqual([
      ['merchant_application.submitted', 'customer_house live'],
      ['merchant_application.approved', 'customer_house live'],
    ])
    expect(JSON.stringify(events)).not.toMatch(/grace@|Hopper|"key"/)
  })

  test('that is rejected says why, and is decided', async () => {
    const { id } = await bodyOf(applications.create({ body: APPLICATION }))
    const rejected = await bodyOf(applications.reject({ params: { id }, body: { reason: 'Sells weapons.' } }))
    expect([rejected.status, rejected.reason]).toEqual(['rejected', 'Sells weapons.'])
    const again = await applications.approve({ params: { id } })
    expect([again.status, again.headers.get('x-error-code')]).toEqual([400, 'application_decided'])
  })

  test('that is revoked ends every key at once', async () => {
    const { id, key } = await aMerchant(service.url)
    const second = (await as(key, 'POST', '/merchants/me/rotate-key', { body: {} })).body.key
    expect((await as(second, 'GET', '/merchants/me')).status).toBe(200)
    await bodyOf(applications.revoke({ params: { id }, body: { reason: 'Fraud.' } }))
    for (const token of [key, second]) expect((await as(token, 'GET', '/merchants/me')).status).toBe(401)
    expect((await applications.revoke({ params: { id }, body: { reason: 'Fraud.' } })).status).toBe(400)
  })

  test('that is approved and rejected at once is one of both, and has a key only if it is approved', async () => {
    const { id } = await bodyOf(applications.create({ body: APPLICATION }))
    const params = { id }
    const decide = (n: number) =>
      n % 2 === 0
        ? applications.approve({ params })
        : applications.reject({ params, body: { reason: 'Sells weapons.' } })
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => decide(n)))
    expect(answers.filter(answer => answer.status === 200)).toHaveLength(1)
    const { status } = await bodyOf(applications.get({ params }))
    const keys = await service.sql('select id from merchant_keys where merchant_id = $1', [id])
    expect([status, keys.length]).toEqual(status === 'approved' ? ['approved', 1] : ['rejected', 0])
  })

  test('that is revoked while its key is replaced has no key that works', async () => {
    const { id, key } = await aMerchant(service.url)
    const rotate = () => as(key, 'POST', '/merchants/me/rotate-key', { body: {} })
    const [first, revoked, second] = await Promise.all([
      rotate(),
      applications.revoke({ params: { id }, body: { reason: 'Fraud.' } }),
      rotate(),
    ])
    expect(revoked.status).toBe(200)
    // A replacement that came too late has no key.
    for (const token of [key, ...[first, second].flatMap(({ body }) => body.key ?? [])])
      expect((await as(token, 'GET', '/merchants/me')).status).toBe(401)
  })
})

describe('a merchant', () => {
  test('changes its own name and public key, and no other merchant’s', async () => {
    const [one, other] = [await aMerchant(service.url), await aMerchant(service.url)]
    const publicKeyJwk = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })
    const changed = await as(one.key, 'PATCH', '/merchants/me', {
      body: { name: 'Books & more', publicKeyJwk },
    })
    expect([changed.body.name, changed.body.publicKeyJwk, changed.body.thumbprint]).toEqual([
      'Books & more',
      publicKeyJwk,
      expect.stringMatching(/^[\w-]{43}$/),
    ])
    const untouched = (await as(other.key, 'GET', '/merchants/me')).body
    expect([untouched.name, untouched.publicKeyJwk]).toEqual(['Bookshop', null])
    const takenBack = await as(one.key, 'PATCH', '/merchants/me', { body: { publicKeyJwk: null } })
    expect([takenBack.body.publicKeyJwk, takenBack.body.name]).toEqual([null, 'Books & more'])
    expect((await eventsOf(one.id)).at(-1)?.data).toMatchObject({ changed: ['publicKeyJwk'] })
  })

  test('is refused a weak key and a private one, of which nothing is kept', async () => {
    const { key } = await aMerchant(service.url)
    const weak = generateKeyPairSync('rsa', { modulusLength: 1_024 }).publicKey.export({ format: 'jwk' })
    const secret = generateKeyPairSync('x25519').privateKey.export({ format: 'jwk' })
    for (const [publicKeyJwk, words] of [
      [weak, '2048'],
      [secret, 'private'],
    ] as const) {
      const { status, body } = await as(key, 'PATCH', '/merchants/me', { body: { publicKeyJwk } })
      expect([status, body.error]).toEqual([400, expect.stringContaining(words)])
      expect(body.error).not.toContain(String(secret.d))
    }
    expect((await as(key, 'GET', '/merchants/me')).body.publicKeyJwk).toBeNull()
    const kept = await service.sql<{ n: string }>(
      'select count(*) as n from idempotency_keys where body like $1',
      [`%${secret.d}%`],
    )
    expect(Number(kept[0]?.n)).toBe(0)
  })

  test('replaces its key: the old one works for as long as it says, an earlier one ends at once', async () => {
    const { key } = await aMerchant(service.url)
    const second = (await as(key, 'POST', '/merchants/me/rotate-key', { body: { overlapMinutes: 60 } })).body
      .key
    expect((await as(key, 'GET', '/merchants/me')).status).toBe(200)
    const third = (await as(second, 'POST', '/merchants/me/rotate-key', { body: { overlapMinutes: 0 } })).body
      .key
    const statuses = await Promise.all(
      [key, second, third].map(async token => (await as(token, 'GET', '/merchants/me')).status),
    )
    expect(statuses).toEqual([401, 401, 200])
  })

  test('that replaces its key eight times at once, each to end the old one at once, has one new key', async () => {
    const { key } = await aMerchant(service.url)
    const rotate = () => as(key, 'POST', '/merchants/me/rotate-key', { body: { overlapMinutes: 0 } })
    const answers = await Promise.all(Array.from({ length: 8 }, rotate))
    const statuses = answers.map(({ status }) => status).sort()
    expect(statuses).toEqual([201, ...Array(7).fill(401)])
    const made = answers.find(({ status }) => status === 201)?.body.key
    expect((await as(made, 'GET', '/merchants/me')).status).toBe(200)
  })

  test('shares no idempotency key with another merchant', async () => {
    const [one, other] = [await aMerchant(service.url), await aMerchant(service.url)]
    const rotate = (token: string) =>
      as(token, 'POST', '/merchants/me/rotate-key', { body: {}, headers: { 'idempotency-key': 'once' } })
    const [first, second] = [await rotate(one.key), await rotate(other.key)]
    expect([first.body.merchantId, second.body.merchantId]).toEqual([one.id, other.id])
    const again = await rotate(one.key)
    expect([again.body.merchantId, again.body.key]).toEqual([one.id, null])
  })
})
