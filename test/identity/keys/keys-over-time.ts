import { describe, expect, test } from '@jest/globals'
import { aKey, aLiveClient, anAgent, bodyOf, type TestClient } from '../../support/factories.ts'
import { isAccepted, minutesFromNow, secondsUntilRefused } from '../../support/keys.ts'
import { withConnection } from '../../support/rows.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'
import { otherProcessUrl, service } from './keys-service.ts'

const clientOf = ({ key }: { key: string | null }): TestClient => service.client(String(key))

describe('the number of active keys', () => {
  test('is bounded for an owner in each mode: a revoked one makes room', async () => {
    const owner = await service.owner()
    const { client } = owner
    const spare = await aKey(client)
    const fill = `insert into keys select (jsonb_populate_record(k, jsonb_build_object(
      'id', 'key_' || translate(md5(k.id || n), '0', 'x')::char(26), 'hash', md5(k.id || n)))).*
      from keys k, generate_series(1, 998) n where k.id = $1`
    await withConnection(service.databaseUrl, database => database.query(fill, [spare.id]))
    const one = () => client.keys.create({ body: { name: 'One more', environment: 'sandbox' } })
    expect(await one()).toMatchObject({
      status: 400,
      code: 'too_many_keys',
      error: /^There are 100 active keys/,
    })
    const params = { id: spare.id }
    expect(await client.keys.rotate({ params, body: { overlapMinutes: 5 } })).toMatchObject({ status: 400 })
    const replaced = await bodyOf(client.keys.rotate({ params }))
    expect((await one()).status).toBe(400)
    await client.keys.revoke({ params: { id: replaced.id } })
    expect((await one()).status).toBe(201)
    expect(await isAccepted(await aLiveClient(service, owner))).toBe(true)
  })
})

describe('rotating a key', () => {
  test('creates a key like the old one, and the old one stops at once', async () => {
    const { client } = await service.owner()
    const old = await aKey(client, { name: 'Till', environment: 'test', scopes: ['customers:read'] })
    const oldClient = clientOf(old)
    expect(await isAccepted(oldClient)).toBe(true)
    const answer = await client.keys.rotate({ params: { id: old.id } })
    expect(answer.status).toBe(201)
    expect(await transactionCount(service, answer, 'keys', answer.body.id)).toBe(1)
    const { name, environment, scopes, expiresAt } = answer.body
    expect({ name, environment, scopes, expiresAt }).toEqual({
      name: 'Till',
      environment: 'test',
      scopes: ['customers:read'],
      expiresAt: null,
    })
    expect(await isAccepted(oldClient)).toBe(false)
    expect(await isAccepted(clientOf(answer.body))).toBe(true)
    expect(await traceOf(service, answer)).toEqual({
      events: ['key.rotated'],
      actions: ['keys.rotate'],
      entries: 1,
    })
    expect((await client.events.list()).body.data[0]?.data).toMatchObject({
      keyId: old.id,
      replacedById: answer.body.id,
    })
  })

  test('keeps the old key working during the overlap', async () => {
    const { client } = await service.owner()
    const old = await aKey(client)
    const fresh = await bodyOf(client.keys.rotate({ params: { id: old.id }, body: { overlapMinutes: 60 } }))
    expect(await isAccepted(clientOf(old))).toBe(true)
    expect(await isAccepted(clientOf(fresh))).toBe(true)
    const { expiresAt } = (await client.keys.get({ params: { id: old.id } })).body
    expect(Math.abs(Date.parse(String(expiresAt)) - minutesFromNow(60))).toBeLessThan(60_000)
    await service.sql(`update keys set expires_at = now() - interval '1 second' where id = $1`, [old.id])
    expect(await secondsUntilRefused(() => isAccepted(clientOf(old)))).toBeLessThan(1)
    expect(await isAccepted(clientOf(fresh))).toBe(true)
  })

  test('never extends the expiry of a key', async () => {
    const { client } = await service.owner()
    const expiresAt = new Date(minutesFromNow(5)).toISOString()
    const old = await aKey(client, { expiresAt })
    const fresh = await bodyOf(client.keys.rotate({ params: { id: old.id }, body: { overlapMinutes: 60 } }))
    expect(fresh.expiresAt).toBe(expiresAt)
    expect((await client.keys.get({ params: { id: old.id } })).body.expiresAt).toBe(expiresAt)
  })

  test('is refused to a key with fewer scopes', async () => {
    const { client } = await service.owner()
    const all = await aKey(client)
    const few = clientOf(await aKey(client, { scopes: ['keys:write'] }))
    expect(await few.keys.rotate({ params: { id: all.id } })).toMatchObject({
      status: 403,
      code: 'scope_not_held',
    })
  })

  test('is refused for a key that is revoked or has expired', async () => {
    const { client } = await service.owner()
    const [revoked, expired] = [await aKey(client), await aKey(client)]
    await bodyOf(client.keys.revoke({ params: { id: revoked.id } }))
    await service.sql('update keys set expires_at = now() where id = $1', [expired.id])
    for (const { id } of [revoked, expired])
      expect(await client.keys.rotate({ params: { id } })).toMatchObject({
        status: 400,
        code: 'key_not_open',
      })
  })

  test.each([-1, 1_441, 1.5])('is refused with an overlap of %d minutes', async overlapMinutes => {
    const { client } = await service.owner()
    const { id } = await aKey(client)
    const answer = await client.keys.rotate({ params: { id }, body: { overlapMinutes } })
    expect(answer).toMatchObject({ status: 400, error: expect.stringContaining('overlapMinutes') })
  })

  test('creates one key for two concurrent requests', async () => {
    const { client } = await service.owner()
    const { id } = await aKey(client)
    const answers = await Promise.all([1, 2].map(() => client.keys.rotate({ params: { id } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
  })
})

describe('a revoked key', () => {
  test('stops working in every process', async () => {
    const { client, key } = await service.owner()
    const doomed = await aKey(client)
    const token = String(doomed.key)
    const statusElsewhere = async () =>
      (await fetch(`${otherProcessUrl}/keys`, { headers: { authorization: `Bearer ${token}` } })).status
    expect([await isAccepted(clientOf(doomed)), await statusElsewhere()]).toEqual([true, 200])
    const answer = await client.keys.revoke({ params: { id: doomed.id } })
    expect(answer).toMatchObject({ status: 200, body: { id: doomed.id, revokedAt: expect.any(String) } })
    const isAcceptedElsewhere = async () => (await statusElsewhere()) !== 401
    expect(await secondsUntilRefused(() => isAccepted(clientOf(doomed)))).toBeLessThan(1)
    expect(await secondsUntilRefused(isAcceptedElsewhere)).toBeLessThan(1)
    expect(await traceOf(service, answer)).toEqual({
      events: ['key.revoked'],
      actions: ['keys.revoke'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'keys', doomed.id)).toBe(1)
    expect(await isAccepted(service.client(key))).toBe(true)
  })

  test('cannot be revoked again', async () => {
    const { client } = await service.owner()
    const params = { id: (await aKey(client)).id }
    await bodyOf(client.keys.revoke({ params }))
    expect(await client.keys.revoke({ params })).toMatchObject({ status: 400, code: 'key_revoked' })
  })

  test('can be the last key of an owner', async () => {
    const { client } = await service.owner()
    const [only] = (await client.keys.list()).body.data
    expect((await client.keys.revoke({ params: { id: String(only?.id) } })).status).toBe(200)
    expect(await isAccepted(client)).toBe(false)
  })
})

describe('a moved test clock', () => {
  test('expires no key, and does not affect live mode', async () => {
    const owner = await service.owner()
    const brief = await aKey(owner.client, { expiresAt: new Date(minutesFromNow(60)).toISOString() })
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [owner.ownerId, 400 * 86_400_000])
    const opened = clientOf(brief)
    expect(await isAccepted(opened)).toBe(true)
    expect(Date.parse((await anAgent(opened)).createdAt)).toBeGreaterThan(minutesFromNow(399 * 24 * 60))
    const late = await aKey(opened, { expiresAt: new Date(minutesFromNow(30)).toISOString() })
    expect(Date.parse(late.createdAt)).toBeLessThan(minutesFromNow(1))
    const live = await aLiveClient(service, owner)
    const [created] = (await live.events.list()).body.data
    expect(Date.parse(String(created?.createdAt))).toBeLessThan(minutesFromNow(1))
  })
})
