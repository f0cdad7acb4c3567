import { describe, expect, test } from '@jest/globals'
import { hashOf } from '../../src/kernel/secrets.ts'
import { aKey, aLiveClient, anAgent, made, type TestClient } from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { tablesWith, traceOf, transactionsOf } from '../support/trace.ts'
import { until } from '../support/until.ts'

const house = await startHouse()

const clientOf = ({ key }: { key: string | null }): TestClient => house.client(String(key))
const opens = async (client: TestClient): Promise<boolean> => (await client.customers.me()).status === 200

async function secondsUntilShut(client: TestClient): Promise<number> {
  const began = performance.now()
  await until('the key stops', async () => !(await opens(client)))
  return (performance.now() - began) / 1_000
}

const wait = (minutes: number): number => Date.now() + minutes * 60_000

describe('a new key', () => {
  test('is shown once, and works', async () => {
    const { client, ownerId } = await house.owner()
    const { status, body } = await client.keys.create({
      body: { name: 'Build server', environment: 'sandbox' },
    })
    expect(status).toBe(201)
    const { key, ...record } = body
    expect(key).toMatch(/^sk_sandbox_[0-9A-Za-z]{43}$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^key_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      name: 'Build server',
      environment: 'sandbox',
      hint: key?.slice(-4),
      scopes: expect.arrayContaining(['agents:write', 'audit:read', 'keys:write']),
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await client.keys.get({ params: { id: record.id } })).body).toEqual(record)
    expect((await client.keys.list()).body.data[0]).toEqual(record)
    expect(await opens(house.client(String(key)))).toBe(true)
  })

  test('leaves its event and audit entry in the same transaction', async () => {
    const { client } = await house.owner()
    const answer = await client.keys.create({ body: { name: 'Build server', environment: 'test' } })
    expect(answer.body.key).toMatch(/^sk_test_/)
    expect(await traceOf(house, answer)).toEqual({
      events: ['key.created'],
      actions: ['keys.create'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'keys', answer.body.id)).toBe(1)
  })

  test('leaves its secret nowhere, and a replay does not show it', async () => {
    const { client } = await house.owner()
    const twice = { body: { name: 'Twice', environment: 'sandbox' }, idempotencyKey: 'key-1' } as const
    const first = await client.keys.create(twice)
    const second = await client.keys.create(twice)
    expect(second.body).toEqual({ ...first.body, key: null })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    const rotated = await client.keys.rotate({ params: { id: first.body.id }, idempotencyKey: 'key-2' })
    for (const { body } of [first, rotated]) expect(await tablesWith(house, String(body.key))).toEqual([])
  })

  test('has all scopes that there will ever be, unless made with fewer', async () => {
    const { client } = await house.owner()
    const all = await aKey(client)
    const few = await aKey(client, { scopes: ['keys:read', 'agents:read'] })
    expect(few.scopes).toEqual(['keys:read', 'agents:read'])
    const stored = await house.sql('select scopes from keys where id = any($1) order by id', [
      [all.id, few.id],
    ])
    expect(stored).toEqual([{ scopes: null }, { scopes: ['keys:read', 'agents:read'] }])
    const narrow = clientOf(few)
    expect((await narrow.keys.list()).status).toBe(200)
    expect((await narrow.agents.create({ body: { name: 'A' } })).code).toBe('missing_scope')
  })

  test('never has more scopes than the key that made it', async () => {
    const { client } = await house.owner()
    const maker = clientOf(await aKey(client, { scopes: ['keys:write', 'keys:read', 'agents:read'] }))
    const refused = await maker.keys.create({
      body: { name: 'More', environment: 'sandbox', scopes: ['agents:read', 'agents:write'] },
    })
    expect(refused).toMatchObject({ status: 403, code: 'scope_not_held' })
    expect(refused.error).toContain('agents:write')
    expect((await aKey(maker)).scopes).toEqual(['agents:read', 'keys:read', 'keys:write'])
  })

  test.each([
    ['a time that is over', { expiresAt: '2020-01-01T00:00:00.000Z' }, 'expires_in_past'],
    ['a time that is none', { expiresAt: 'tomorrow' }, 'invalid_request'],
    ['a scope that does not exist', { scopes: ['money:print'] }, 'invalid_request'],
    ['no scope at all', { scopes: [] }, 'invalid_request'],
    ['another environment', { environment: 'staging' }, 'invalid_request'],
    ['a name that is too long', { name: 'n'.repeat(201) }, 'invalid_request'],
    ['live, for an owner who is not verified', { environment: 'live' }, 'owner_not_verified'],
  ])('is refused with %s', async (_, wrong, code) => {
    const { key } = await house.owner()
    const body = { name: 'Build server', environment: 'sandbox', ...wrong }
    const answer = await house.http('POST', '/keys', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('x-error-code')).toBe(code)
  })
})

describe('a live key', () => {
  test('belongs to live mode alone', async () => {
    const owner = await house.owner()
    const live = await aLiveClient(house, owner)
    const [own] = (await live.keys.list()).body.data
    expect(own).toMatchObject({ mode: 'live', environment: 'live', ownerId: owner.ownerId })
    expect((await live.customers.me()).status).toBe(200)
    const ids = (await owner.client.keys.list()).body.data.map(({ id }) => id)
    expect(ids).not.toContain(own?.id)
    expect((await owner.client.keys.get({ params: { id: String(own?.id) } })).code).toBe('key_not_found')
    expect((await live.keys.get({ params: { id: String(ids[0]) } })).code).toBe('key_not_found')
    const [created] = (await live.events.list()).body.data
    expect(created).toMatchObject({ event: 'key.created', mode: 'live', data: { keyId: own?.id } })
  })

  test('may have the plain prefix', async () => {
    const owner = await house.owner()
    const live = await aLiveClient(house, owner)
    const [own] = (await live.keys.list()).body.data
    const plain = 'sk_plainKeyThatWasMadeSomewhereElse'
    await house.sql('update keys set hash = $1 where id = $2', [hashOf(plain), own?.id])
    expect((await house.client(plain).keys.list()).body.data[0]).toMatchObject({ mode: 'live' })
  })
})

describe('a list of keys', () => {
  test('has the newest first and can be narrowed to an environment', async () => {
    const { client } = await house.owner()
    const sandbox = await aKey(client)
    const testing = await aKey(client, { environment: 'test' })
    const ids = (await client.keys.list({ query: { limit: 2 } })).body.data.map(({ id }) => id)
    expect(ids).toEqual([testing.id, sandbox.id])
    const narrowed = await made(client.keys.list({ query: { environment: 'test' } }))
    expect(narrowed.data.map(({ id }) => id)).toEqual([testing.id])
  })
})

describe('rotating', () => {
  test('gives a new key like the old one, which stops within a second', async () => {
    const { client } = await house.owner()
    const old = await aKey(client, { name: 'Till', environment: 'test', scopes: ['customers:read'] })
    const oldClient = clientOf(old)
    expect(await opens(oldClient)).toBe(true)
    const answer = await client.keys.rotate({ params: { id: old.id } })
    expect(answer.status).toBe(201)
    expect(await transactionsOf(house, answer, 'keys', answer.body.id)).toBe(1)
    const { name, environment, scopes, expiresAt } = answer.body
    expect({ name, environment, scopes, expiresAt }).toEqual({
      name: 'Till',
      environment: 'test',
      scopes: ['customers:read'],
      expiresAt: null,
    })
    expect(await secondsUntilShut(oldClient)).toBeLessThan(1)
    expect(await opens(clientOf(answer.body))).toBe(true)
    expect(await traceOf(house, answer)).toEqual({
      events: ['key.rotated'],
      actions: ['keys.rotate'],
      entries: 1,
    })
    expect((await client.events.list()).body.data[0]?.data).toMatchObject({
      keyId: old.id,
      replacedById: answer.body.id,
    })
  })

  test('lets both work during the overlap', async () => {
    const { client } = await house.owner()
    const old = await aKey(client)
    const fresh = await made(client.keys.rotate({ params: { id: old.id }, body: { overlapMinutes: 60 } }))
    expect(await opens(clientOf(old))).toBe(true)
    expect(await opens(clientOf(fresh))).toBe(true)
    const { expiresAt } = (await client.keys.get({ params: { id: old.id } })).body
    expect(Math.abs(Date.parse(String(expiresAt)) - wait(60))).toBeLessThan(5_000)
    await house.sql(`update keys set expires_at = now() - interval '1 second' where id = $1`, [old.id])
    expect(await secondsUntilShut(clientOf(old))).toBeLessThan(1)
    expect(await opens(clientOf(fresh))).toBe(true)
  })

  test('never prolongs a key', async () => {
    const { client } = await house.owner()
    const expiresAt = new Date(wait(5)).toISOString()
    const old = await aKey(client, { expiresAt })
    const fresh = await made(client.keys.rotate({ params: { id: old.id }, body: { overlapMinutes: 60 } }))
    expect(fresh.expiresAt).toBe(expiresAt)
    expect((await client.keys.get({ params: { id: old.id } })).body.expiresAt).toBe(expiresAt)
  })

  test('is refused to a key with fewer scopes', async () => {
    const { client } = await house.owner()
    const all = await aKey(client)
    const few = clientOf(await aKey(client, { scopes: ['keys:write'] }))
    expect(await few.keys.rotate({ params: { id: all.id } })).toMatchObject({
      status: 403,
      code: 'scope_not_held',
    })
  })

  test('is refused for a key that is revoked or has expired', async () => {
    const { client } = await house.owner()
    const [revoked, expired] = [await aKey(client), await aKey(client)]
    await made(client.keys.revoke({ params: { id: revoked.id } }))
    await house.sql('update keys set expires_at = now() where id = $1', [expired.id])
    for (const { id } of [revoked, expired])
      expect(await client.keys.rotate({ params: { id } })).toMatchObject({
        status: 400,
        code: 'key_not_open',
      })
  })

  test.each([-1, 1_441, 1.5])('is refused with an overlap of %d minutes', async overlapMinutes => {
    const { client } = await house.owner()
    const { id } = await aKey(client)
    const answer = await client.keys.rotate({ params: { id }, body: { overlapMinutes } })
    expect(answer).toMatchObject({ status: 400, error: expect.stringContaining('overlapMinutes') })
  })

  test('gives one new key when it is asked for twice at once', async () => {
    const { client } = await house.owner()
    const { id } = await aKey(client)
    const answers = await Promise.all([1, 2].map(() => client.keys.rotate({ params: { id } })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 400])
  })
})

describe('a revoked key', () => {
  test('stops within a second, here and in every other process', async () => {
    const { client, key } = await house.owner()
    const doomed = await aKey(client)
    const elsewhere = await house.another()
    const token = String(doomed.key)
    const there = async () =>
      (await fetch(`${elsewhere}/keys`, { headers: { authorization: `Bearer ${token}` } })).status
    expect([await opens(clientOf(doomed)), await there()]).toEqual([true, 200])
    const answer = await client.keys.revoke({ params: { id: doomed.id } })
    const began = performance.now()
    expect(answer).toMatchObject({ status: 200, body: { id: doomed.id, revokedAt: expect.any(String) } })
    await until('both stop', async () => !(await opens(clientOf(doomed))) && (await there()) === 401)
    expect(performance.now() - began).toBeLessThan(1_000)
    expect(await traceOf(house, answer)).toEqual({
      events: ['key.revoked'],
      actions: ['keys.revoke'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'keys', doomed.id)).toBe(1)
    expect(await opens(house.client(key))).toBe(true)
  })

  test('cannot be revoked again', async () => {
    const { client } = await house.owner()
    const params = { id: (await aKey(client)).id }
    await made(client.keys.revoke({ params }))
    expect(await client.keys.revoke({ params })).toMatchObject({ status: 400, code: 'key_revoked' })
  })

  test('may be the last one', async () => {
    const { client } = await house.owner()
    const [only] = (await client.keys.list()).body.data
    expect((await client.keys.revoke({ params: { id: String(only?.id) } })).status).toBe(200)
    expect(await secondsUntilShut(client)).toBeLessThan(1)
  })
})

describe('a key opens nothing', () => {
  test('when it has expired', async () => {
    const { client } = await house.owner()
    const brief = await aKey(client, { expiresAt: new Date(Date.now() + 700).toISOString() })
    expect(await opens(clientOf(brief))).toBe(true)
    await until('it expires', async () => !(await opens(clientOf(brief))))
    expect((await clientOf(brief).keys.list()).code).toBe('unauthenticated')
  })

  test.each(['sk_sandbox_', 'sk_sandbox_0000000000000000000000000000000000000000000', 'sk_', 'nonsense', ''])(
    'when nobody made it: %s',
    async token => {
      const answer = await house.http('GET', '/keys', { token })
      expect(answer.status).toBe(401)
      expect(answer.body).toEqual({ error: expect.any(String) })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    },
  )
})

describe('a test clock that was moved', () => {
  test('opens and closes no key, and does not reach live mode', async () => {
    const owner = await house.owner()
    const brief = await aKey(owner.client, { expiresAt: new Date(wait(60)).toISOString() })
    await house.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [owner.ownerId, 400 * 86_400_000])
    const opened = clientOf(brief)
    expect(await opens(opened)).toBe(true)
    expect(Date.parse((await anAgent(opened)).createdAt)).toBeGreaterThan(wait(399 * 24 * 60))
    const late = await aKey(opened, { expiresAt: new Date(wait(60)).toISOString() })
    expect(Date.parse(late.createdAt)).toBeLessThan(wait(1))
    const live = await aLiveClient(house, owner)
    const [created] = (await live.events.list()).body.data
    expect(Date.parse(String(created?.createdAt))).toBeLessThan(wait(1))
  })
})

describe('another owner’s key', () => {
  test('is not found', async () => {
    const { client } = await house.owner()
    const other = await house.owner()
    const params = { id: (await aKey(other.client)).id }
    const answers = [
      await client.keys.get({ params }),
      await client.keys.rotate({ params }),
      await client.keys.revoke({ params }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 404, code: 'key_not_found' })
    expect((await other.client.keys.get({ params })).body).toMatchObject({ revokedAt: null, expiresAt: null })
  })
})

describe('scopes', () => {
  test('are asked for by each operation', async () => {
    const { client } = await house.owner()
    const { id, key } = await aKey(client, { scopes: ['events:read'] })
    const narrow = house.client(String(key))
    const answers = [
      await narrow.keys.create({ body: { name: 'No', environment: 'sandbox' } }),
      await narrow.keys.list(),
      await narrow.keys.get({ params: { id } }),
      await narrow.keys.rotate({ params: { id } }),
      await narrow.keys.revoke({ params: { id } }),
    ]
    for (const answer of answers) expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })
})

describe('use', () => {
  const lastUse = async (id: string) => {
    const [row] = await house.sql<{ last_used_at: Date | null }>(
      'select last_used_at from keys where id = $1',
      [id],
    )
    return row?.last_used_at?.getTime()
  }

  test('is noted, at most once a minute', async () => {
    const { client } = await house.owner()
    const { id, key } = await aKey(client)
    expect(await lastUse(id)).toBeUndefined()
    await opens(house.client(String(key)))
    const first = await lastUse(id)
    expect(Math.abs(Number(first) - Date.now())).toBeLessThan(5_000)
    const another = await house.another()
    const use = () => fetch(`${another}/customers/me`, { headers: { authorization: `Bearer ${key}` } })
    await use()
    expect(await lastUse(id)).toBe(first)
    await house.sql(`update keys set last_used_at = now() - interval '61 seconds' where id = $1`, [id])
    await until('it is noted again', async () => {
      await use()
      return Number(await lastUse(id)) >= Number(first)
    })
    expect((await client.keys.get({ params: { id } })).body.lastUsedAt).not.toBeNull()
  })

  test('does not wait for somebody who holds the row', async () => {
    const { client } = await house.owner()
    const { id, key } = await aKey(client)
    const row = 'select id from keys where id = $1 for update'
    const held = house.sql(`with row as materialized (${row}) select pg_sleep(1.5) from row`, [id])
    await until('the row is held', async () => (await house.sql(`${row} skip locked`, [id])).length === 0)
    const began = performance.now()
    expect(await opens(house.client(String(key)))).toBe(true)
    expect(performance.now() - began).toBeLessThan(1_000)
    await held
  })
})
