import './keys/credentials-that-end.ts'
import './keys/keys-made-by-keys.ts'
import './keys/keys-of-a-cell.ts'
import './keys/keys-of-people.ts'
import './keys/keys-over-time.ts'
import { describe, expect, test } from '@jest/globals'
import { hashSecret } from '../../src/kernel/database/credential.ts'
import { aKey, aLiveClient, bodyOf, type TestClient } from '../support/factories.ts'
import { isAccepted } from '../support/keys.ts'
import { withConnection } from '../support/rows.ts'
import { tablesWith, traceOf, transactionCount } from '../support/trace.ts'
import { until } from '../support/until.ts'
import { service } from './keys/keys-service.ts'

const clientOf = ({ key }: { key: string | null }): TestClient => service.client(String(key))

describe('a new key', () => {
  test('is shown once, and works', async () => {
    const { client, ownerId } = await service.owner()
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
      madeById: expect.stringMatching(/^key_/),
      madeByPersonId: null,
      idleDays: null,
      toolWrites: false,
      boundTo: null,
      sessionId: null,
      personId: null,
      lastUsedAt: null,
      expiresAt: null,
      revokedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect((await client.keys.get({ params: { id: record.id } })).body).toEqual(record)
    expect((await client.keys.list()).body.data[0]).toEqual(record)
    expect(await isAccepted(service.client(String(key)))).toBe(true)
  })

  test('records its event in the same transaction', async () => {
    const { client } = await service.owner()
    const answer = await client.keys.create({ body: { name: 'Build server', environment: 'test' } })
    expect(answer.body.key).toMatch(/^sk_test_/)
    expect(await traceOf(service, answer)).toEqual({
      events: ['key.created'],
      actions: ['keys.create'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'keys', answer.body.id)).toBe(1)
  })

  test('is stored without its secret, and a replay does not show it', async () => {
    const { client } = await service.owner()
    const twice = { body: { name: 'Twice', environment: 'sandbox' }, idempotencyKey: 'key-1' } as const
    const first = await client.keys.create(twice)
    const second = await client.keys.create(twice)
    expect(second.body).toEqual({ ...first.body, key: null })
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    const rotated = await client.keys.rotate({ params: { id: first.body.id }, idempotencyKey: 'key-2' })
    for (const { body } of [first, rotated]) expect(await tablesWith(service, String(body.key))).toEqual([])
  })

  test('has all scopes, future ones included, unless created with fewer', async () => {
    const { client } = await service.owner()
    const all = await aKey(client)
    const few = await aKey(client, { scopes: ['keys:read', 'agents:read'] })
    expect(few.scopes).toEqual(['keys:read', 'agents:read'])
    const stored = await service.sql('select scopes from keys where id = any($1) order by id', [
      [all.id, few.id],
    ])
    expect(stored).toEqual([{ scopes: null }, { scopes: ['keys:read', 'agents:read'] }])
    const narrow = clientOf(few)
    expect((await narrow.keys.list()).status).toBe(200)
    expect((await narrow.agents.create({ body: { name: 'A' } })).code).toBe('missing_scope')
  })

  test('never has more scopes than the key that created it', async () => {
    const { client } = await service.owner()
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
    const { key } = await service.owner()
    const body = { name: 'Build server', environment: 'sandbox', ...wrong }
    const answer = await service.http('POST', '/keys', { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.headers.get('x-error-code')).toBe(code)
  })
})

describe('a live key', () => {
  test('sees live mode only', async () => {
    const owner = await service.owner()
    const live = await aLiveClient(service, owner)
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

  test('can be sent with the prefix sk_', async () => {
    const owner = await service.owner()
    const live = await aLiveClient(service, owner)
    const [own] = (await live.keys.list()).body.data
    const plain = 'sk_plainKeyThatWasMadeSomewhereElse'
    await service.sql('update keys set hash = $1 where id = $2', [hashSecret(plain), own?.id])
    expect((await service.client(plain).keys.list()).body.data[0]).toMatchObject({ mode: 'live' })
  })
})

describe('a list of keys', () => {
  test('has the newest first and can be narrowed to an environment', async () => {
    const { client } = await service.owner()
    const sandbox = await aKey(client)
    const testing = await aKey(client, { environment: 'test' })
    const ids = (await client.keys.list({ query: { limit: 2 } })).body.data.map(({ id }) => id)
    expect(ids).toEqual([testing.id, sandbox.id])
    const narrowed = await bodyOf(client.keys.list({ query: { environment: 'test' } }))
    expect(narrowed.data.map(({ id }) => id)).toEqual([testing.id])
  })
})

describe('another owner’s key', () => {
  test('is not found', async () => {
    const { client } = await service.owner()
    const other = await service.owner()
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

describe('an operation', () => {
  test('requires its scope', async () => {
    const { client } = await service.owner()
    const { id, key } = await aKey(client, { scopes: ['events:read'] })
    const narrow = service.client(String(key))
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

describe('a key is refused', () => {
  test('when it has expired', async () => {
    const { client } = await service.owner()
    const brief = await aKey(client, { expiresAt: new Date(Date.now() + 3_600_000).toISOString() })
    expect(await isAccepted(clientOf(brief))).toBe(true)
    await service.sql('update keys set expires_at = now() where id = $1', [brief.id])
    await until('it expires', async () => !(await isAccepted(clientOf(brief))))
    expect((await clientOf(brief).keys.list()).code).toBe('unauthenticated')
  })

  test.each(['sk_sandbox_', 'sk_sandbox_0000000000000000000000000000000000000000000', 'sk_', 'nonsense', ''])(
    'when it was never created: %s',
    async token => {
      const answer = await service.http('GET', '/keys', { token })
      expect(answer.status).toBe(401)
      expect(answer.body).toEqual({ error: expect.any(String) })
      expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    },
  )
})

describe('the use of a key', () => {
  const lastUse = async (id: string) => {
    const [row] = await service.sql<{ last_used_at: Date | null }>(
      'select last_used_at from keys where id = $1',
      [id],
    )
    return row?.last_used_at?.getTime()
  }

  test('is recorded at most once a minute', async () => {
    const { client } = await service.owner()
    const { id, key } = await aKey(client)
    expect(await lastUse(id)).toBeUndefined()
    const before = Date.now()
    await isAccepted(service.client(String(key)))
    const first = await lastUse(id)
    expect(first).toBeGreaterThanOrEqual(before)
    expect(first).toBeLessThanOrEqual(Date.now())
    const another = await service.another()
    const use = () => fetch(`${another}/customers/me`, { headers: { authorization: `Bearer ${key}` } })
    await use()
    expect(await lastUse(id)).toBe(first)
    await service.sql(`update keys set last_used_at = now() - interval '61 seconds' where id = $1`, [id])
    await until('it is noted again', async () => {
      await use()
      return Number(await lastUse(id)) >= Number(first)
    })
    expect((await client.keys.get({ params: { id } })).body.lastUsedAt).not.toBeNull()
  })

  test('does not wait for a lock on the key', async () => {
    const { client } = await service.owner()
    const { id, key } = await aKey(client)
    const row = 'select from keys where id = $1 for update'
    await withConnection(service.databaseUrl, async holder => {
      await holder.query('begin')
      await holder.query(row, [id])
      expect(await isAccepted(service.client(String(key)))).toBe(true)
    })
  })
})
