import { beforeAll, describe, expect, test } from '@jest/globals'
import type { areas } from '../../../src/areas.ts'
import { clock } from '../../../src/values/clock.ts'
import { times } from '../../support/at-once.ts'
import {
  aDelegation,
  aKey,
  aLiveClient,
  anAgent,
  aToken,
  bodyOf,
  type TestClient,
} from '../../support/factories.ts'
import type { Owner } from '../../support/harness.ts'
import { isAccepted, minutesFromNow } from '../../support/keys.ts'
import { service } from './keys-service.ts'

const clientOf = ({ key }: { key: string | null }): TestClient => service.client(String(key))
const inMinutes = (minutes: number): string => new Date(minutesFromNow(minutes)).toISOString()

const live = { environment: 'live' } as const

describe('a key that changes things by tools', () => {
  const wanted = { name: 'Assistant', environment: 'sandbox', toolWrites: true } as const

  test('is not made or replaced by a key that does not', async () => {
    const { client } = await service.owner()
    const { id } = await aKey(client)
    await service.sql('update keys set tool_writes = true where id = $1', [id])
    const refusal = { status: 403, code: 'tool_writes_not_held' }
    expect(await client.keys.create({ body: wanted })).toMatchObject(refusal)
    expect(await client.keys.rotate({ params: { id }, body: {} })).toMatchObject(refusal)
    expect((await bodyOf(client.keys.list())).data).toHaveLength(2)
  })

  test('makes another one, and is replaced by itself', async () => {
    const made = await aKey((await service.owner()).client)
    await service.sql('update keys set tool_writes = true where id = $1', [made.id])
    const client = clientOf(made)
    expect(await bodyOf(client.keys.create({ body: wanted }))).toMatchObject({ toolWrites: true })
    const rotated = await bodyOf(client.keys.rotate({ params: { id: made.id }, body: {} }))
    expect(rotated).toMatchObject({ toolWrites: true })
  })
})

describe('a live key', () => {
  let owner: Owner<typeof areas>
  beforeAll(async () => {
    owner = await service.owner()
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [owner.ownerId])
  })
  const another = () => owner.client.keys.create({ body: { name: 'Production', ...live } })

  test('can be created by a test key while the owner has no active one: once, with an event', async () => {
    const answers = await times(6, another)
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403, 403, 403, 403])
    const refused = answers.filter(({ status }) => status === 403).map(({ code }) => code)
    expect(new Set(refused)).toEqual(new Set(['live_key_at_work']))
    const first = answers.find(({ status }) => status === 201)?.body
    const [, own] = (await bodyOf(owner.client.keys.list())).data.toReversed()
    expect(own).toBe(undefined)
    const events = await bodyOf(owner.client.events.list({ query: { event: 'key.live_created' } }))
    const data = { keyId: first?.id, name: 'Production', environment: 'live', madeById: first?.madeById }
    expect(events.data).toMatchObject([{ mode: 'test', data }])
    expect(first?.madeById).toMatch(/^key_/)
  })

  test('creates further live keys', async () => {
    await service.sql(`update keys set revoked_at = now() where (owner_id, mode) = ($1, 'live')`, [
      owner.ownerId,
    ])
    const first = clientOf(await bodyOf(another()))
    expect((await another()).code).toBe('live_key_at_work')
    const second = await aKey(first, live)
    expect(await isAccepted(clientOf(second))).toBe(true)
    const events = (await bodyOf(first.events.list({ query: { event: 'key.live_created' } }))).data
    expect(events).toEqual([])
  })

  test('can be created by a test key again once all are revoked or expired', async () => {
    const ends = [`expires_at = now()`, `revoked_at = now()`]
    for (const end of ends) {
      await service.sql(`update keys set ${end} where (owner_id, mode) = ($1, 'live')`, [owner.ownerId])
      expect((await another()).status).toBe(201)
    }
  })

  test('can be revoked by the operator if it is lost, so that another can be created', async () => {
    const [lost] = await service.sql<{ id: string }>(
      `select id from keys where (owner_id, mode) = ($1, 'live') and revoked_at is null and expires_at is null`,
      [owner.ownerId],
    )
    const params = { id: String(lost?.id) }
    expect((await owner.client.keys.revoke({ params })).code).toBe('key_not_found')
    expect(await bodyOf(service.dash.keys.revoke({ params }))).toMatchObject({ id: params.id, mode: 'live' })
    expect(
      (await service.dash.keys.revoke({ params: { id: 'key_01jd8x2m4ye7k9v0c3q5r6t8wz' } })).status,
    ).toBe(404)
    expect((await another()).status).toBe(201)
  })

  test('needs keys:write if it is the first', async () => {
    const fresh = await service.owner()
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [fresh.ownerId])
    const body = { name: 'Narrow', ...live, scopes: ['agents:read'] } as const
    expect(await fresh.client.keys.create({ body: { ...body, scopes: [...body.scopes] } })).toMatchObject({
      status: 400,
      code: 'first_live_key',
    })
    expect(
      (await aKey(await aLiveClient(service, fresh), { ...body, scopes: [...body.scopes] })).scopes,
    ).toEqual(['agents:read'])
  })
})

describe('a credential created with an expiring key', () => {
  let brief: TestClient
  let expiresAt: string
  let agentId: string
  beforeAll(async () => {
    const { client } = await service.owner()
    expiresAt = inMinutes(60)
    brief = clientOf(await aKey(client, { expiresAt }))
    agentId = (await anAgent(client)).id
  })

  test('expires no later, if it is a key', async () => {
    expect((await aKey(brief)).expiresAt).toBe(expiresAt)
    expect((await aKey(brief, { expiresAt: inMinutes(5) })).expiresAt).not.toBe(expiresAt)
    for (const later of [null, inMinutes(61)]) {
      const body = { name: 'Later', environment: 'sandbox', expiresAt: later } as const
      const answer = await brief.keys.create({ body })
      expect(answer).toMatchObject({ status: 403, code: 'expires_too_late' })
      expect(answer.error).toContain(`expiresAt: the calling key expires ${expiresAt}`)
    }
  })

  test('expires with it, if it is a token', async () => {
    expect((await aToken(brief, agentId)).expiresAt).toBe(expiresAt)
    for (const expiresInDays of [null, 1]) {
      const body = { label: 'Later', expiresInDays }
      const answer = await brief.agentTokens.create({ params: { id: agentId }, body })
      expect(answer).toMatchObject({ status: 403, code: 'expires_too_late' })
    }
  })

  test('expires no later, if it is a delegation', async () => {
    expect((await aDelegation(brief, agentId, { expiresInMinutes: 50 })).status).toBe('issued')
    const body = { agentId, maxAmountEuros: 5, expiresInMinutes: 61 }
    expect((await brief.delegations.create({ body })).code).toBe('expires_too_late')
  })

  test('can replace that key, but no key that lasts longer', async () => {
    const { client } = await service.owner()
    const own = await aKey(client, { expiresAt })
    const lasting = await aKey(client)
    expect((await clientOf(own).keys.rotate({ params: { id: lasting.id } })).code).toBe('expires_too_late')
    expect((await bodyOf(clientOf(own).keys.rotate({ params: { id: own.id } }))).expiresAt).toBe(expiresAt)
  })
})

describe('a key with fewer scopes', () => {
  test('revokes itself and keys with no further scopes', async () => {
    const { client } = await service.owner()
    const few = await aKey(client, { scopes: ['keys:write', 'keys:read', 'agents:read'] })
    const narrow = clientOf(few)
    const [all, own] = [await aKey(client), await aKey(narrow)]
    const refused = await narrow.keys.revoke({ params: { id: all.id } })
    expect(refused).toMatchObject({ status: 403, code: 'scope_not_held' })
    expect((await client.keys.get({ params: { id: all.id } })).body.revokedAt).toBe(null)
    expect((await narrow.keys.revoke({ params: { id: own.id } })).status).toBe(200)
    expect((await narrow.keys.revoke({ params: { id: few.id } })).status).toBe(200)
  })

  test('cannot revoke a key with all future scopes, even if it names all of today', async () => {
    const { client } = await service.owner()
    const { scopes } = await aKey(client)
    const today = clientOf(await aKey(client, { scopes: [...scopes] }))
    const all = await aKey(client)
    expect((await today.keys.revoke({ params: { id: all.id } })).code).toBe('scope_not_held')
    expect((await today.keys.rotate({ params: { id: all.id } })).code).toBe('scope_not_held')
    const { id } = await aKey(today)
    const [stored] = await service.sql('select scopes from keys where id = $1', [id])
    expect(stored).toEqual({ scopes })
  })
})

describe('a key that is revoked while it creates a credential', () => {
  test('either creates it before, or fails', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    for (let round = 0; round < 4; round++) {
      const maker = await aKey(client)
      const own = clientOf(maker)
      await isAccepted(own)
      const [revoked, key, token] = await Promise.all([
        client.keys.revoke({ params: { id: maker.id } }),
        own.keys.create({ body: { name: 'Late', environment: 'sandbox' } }),
        own.agentTokens.create({ params: { id: agent.id }, body: { label: 'Late' } }),
      ])
      expect(revoked.status).toBe(200)
      const end = Date.parse(String(revoked.body.revokedAt))
      for (const { status, body } of [key, token]) {
        expect([201, 401]).toContain(status)
        if (status === 201) expect(Date.parse(body.createdAt)).toBeLessThanOrEqual(end)
      }
    }
  })

  test('creates nothing even while its revocation is not known everywhere', async () => {
    const { client } = await service.owner()
    const maker = await aKey(client)
    const own = clientOf(maker)
    await isAccepted(own)
    // Revoked in the database, so that the process trusts its cache for a moment.
    await service.sql('update keys set revoked_at = $2 where id = $1', [maker.id, clock.real()])
    const answer = await own.keys.create({ body: { name: 'Late', environment: 'sandbox' } })
    expect(answer).toMatchObject({ status: 401, code: 'unauthenticated' })
    const listed = await bodyOf(client.keys.list({ query: { madeById: maker.id } }))
    expect(listed.data).toEqual([])
  })
})
