import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import type { Actor } from '../../../src/kernel/contract/actor.ts'
import { statusCounts, times } from '../../support/at-once.ts'
import { startEngine } from '../../support/engine.ts'
import { aKey, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const other = await service.another()
const owner = await service.owner()
const engine = await startEngine(areas)

const create = (token: string, idempotencyKey: string, name = 'Same', url = service.url) =>
  fetch(`${url}/agents`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': idempotencyKey,
    },
    body: JSON.stringify({ name }),
  })

const idOf = async (response: Response): Promise<string> => ((await response.json()) as { id: string }).id

const isReplay = ({ headers }: Response): boolean => headers.get('idempotent-replayed') === 'true'

async function agents(ownerId = owner.ownerId): Promise<number> {
  const [row] = await service.sql('select count(*)::int as agents from agents where owner_id = $1', [ownerId])
  return row?.agents
}

async function agentsCreatedBy(work: () => Promise<unknown>, ownerId = owner.ownerId): Promise<number> {
  const before = await agents(ownerId)
  await work()
  return (await agents(ownerId)) - before
}

describe('an idempotency key', () => {
  test.each(['4242424242424242', 'order-4242-4242-4242-4242'])(
    'is refused with the number of a card: %s',
    async key => {
      const answer = await create(owner.key, key)
      expect(answer.status).toBe(400)
      const text = await answer.text()
      expect(text).toContain('Idempotency-Key')
      expect(text).not.toContain('4242')
    },
  )

  test('returns the same answer again, without a second effect', async () => {
    const created = await agentsCreatedBy(async () => {
      const [first, again] = [await create(owner.key, 'again'), await create(owner.key, 'again')]
      expect([first.status, again.status]).toEqual([201, 201])
      expect([isReplay(first), isReplay(again)]).toEqual([false, true])
      expect(await again.text()).toBe(await first.text())
    })
    expect(created).toBe(1)
  })

  test.each([[['service']], [['service', 'other']]])(
    'used fifty times at once at %j has one effect',
    async names => {
      const urls = names.map(name => (name === 'service' ? service.url : other))
      const created = await agentsCreatedBy(async () => {
        const answers = await times(50, index =>
          create(owner.key, `fifty-${urls.length}`, 'Same', urls[index % urls.length]),
        )
        const { 201: succeeded = 0, 409: waiting = 0 } = statusCounts(answers)
        expect(succeeded + waiting).toBe(50)
        expect(answers.filter(isReplay).length).toBe(succeeded - 1)
        for (const { status, headers } of answers)
          if (status === 409) expect(headers.has('retry-after')).toBe(true)
      })
      expect(created).toBe(1)
    },
  )

  test('with another body is refused, but not with the same members in another order', async () => {
    const post = (body: string) =>
      service.http('POST', '/agents', { token: owner.key, headers: { 'idempotency-key': 'body' }, body })
    expect((await post('{"name":"A","description":"B"}')).status).toBe(201)
    expect((await post('{"description":"B","name":"A"}')).headers.has('idempotent-replayed')).toBe(true)
    const { status, headers } = await post('{"name":"A","description":"C"}')
    expect([status, headers.get('x-error-code')]).toEqual([422, 'idempotency_key_reused'])
  })

  test('stands for what was sent, whatever default its contract gets later', async () => {
    const body = { name: 'A', description: null, externalId: null, policyId: null, metadata: {} }
    const run = (description: string | null, name = 'A') =>
      engine.run(
        { ownerId: 'customer_1', mode: 'test' },
        'agents.create',
        { body: { ...body, description } },
        { idempotencyKey: 'sent', sent: { query: {}, body: { name } } },
      )
    expect((await run(null)).status).toBe(201)
    expect(await run('a new default')).toMatchObject({ status: 201, replayed: true })
    await expect(run(null, 'B')).rejects.toMatchObject({ code: 'idempotency_key_reused' })
  })

  test('replays a refusal', async () => {
    const body = { name: 'Taken', externalId: 'taken' }
    await owner.client.agents.create({ body })
    const refused = () => owner.client.agents.create({ body, idempotencyKey: 'refused' })
    const [first, again] = [await refused(), await refused()]
    expect([first.status, first.code, again.status, again.code]).toEqual([
      409,
      'external_id_taken',
      409,
      'external_id_taken',
    ])
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })

  test('is not stored when the request itself was invalid', async () => {
    const { key: narrow } = await aKey(owner.client, { scopes: ['agents:read'] })
    const tries = [
      [400, await create(owner.key, 'fresh', '')],
      [401, await create('sk_sandbox_nobody', 'fresh')],
      [403, await create(String(narrow), 'fresh')],
    ] as const
    for (const [status, answer] of tries) expect(answer.status).toBe(status)
    expect(await service.sql(`select from idempotency_keys where key = 'fresh'`)).toEqual([])
    const answer = await create(owner.key, 'fresh')
    expect([answer.status, isReplay(answer)]).toEqual([201, false])
  })

  test('expires after a day', async () => {
    const age = (by: string) =>
      service.sql(`update idempotency_keys set created_at = created_at - $1::interval where key = 'old'`, [
        by,
      ])
    const first = await idOf(await create(owner.key, 'old'))
    await age('23 hours 59 minutes')
    expect(await idOf(await create(owner.key, 'old'))).toBe(first)
    await age('2 minutes')
    const later = await create(owner.key, 'old', 'Another body')
    expect([later.status, isReplay(later)]).toEqual([201, false])
    expect(await idOf(await create(owner.key, 'old', 'Another body'))).toBe(await idOf(later))
  })

  test.each([
    ['with a space', 'a b'],
    ['of 256 characters', 'a'.repeat(256)],
    ['that is empty', ''],
    ['beyond ASCII', 'ü'],
  ])('%s is refused', async (_, key) => {
    expect(await agentsCreatedBy(async () => expect((await create(owner.key, key)).status).toBe(400))).toBe(0)
  })

  test('of 255 characters is accepted', async () => {
    expect((await create(owner.key, '~'.repeat(255))).status).toBe(201)
  })
})

/** What 0.7.0 stores for `POLICY`. */
const HASH_BY_070 = 'iSYutukz8zhy-Rv8ZC8amIS2phzLvjAX0YW-fTQ7LLM'
const POLICY = {
  name: 'Research budget',
  maxTransactionEuros: 50,
  dailyLimitEuros: 200,
  autoApproveLimitEuros: 10,
}

describe('an idempotency key of 0.7.0', () => {
  const create = (idempotencyKey: string, body: object = POLICY) =>
    owner.client.policies.create({ body: body as typeof POLICY, idempotencyKey })

  test('is known after the upgrade, although its contract has another default since', async () => {
    const first = await create('of-070')
    await service.sql(`update idempotency_keys set request_hash = $1 where key = 'of-070'`, [HASH_BY_070])
    const again = await create('of-070')
    expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      first.body,
      'true',
    ])
    for (const other of [
      { ...POLICY, name: 'Other' },
      { ...POLICY, approval: [] },
    ])
      expect(await create('of-070', other)).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
  })
})

describe('the scope of an idempotency key', () => {
  test('is its owner', async () => {
    const stranger = await service.owner()
    const ownId = await idOf(await create(owner.key, 'whose'))
    const theirs = await create(stranger.key, 'whose')
    expect([theirs.status, isReplay(theirs)]).toEqual([201, false])
    expect(await idOf(theirs)).not.toBe(ownId)
  })

  test('is its owner, whichever API key is used', async () => {
    const { key } = await aKey(owner.client)
    await create(owner.key, 'rotated')
    expect(isReplay(await create(String(key), 'rotated'))).toBe(true)
  })

  test('is its mode', async () => {
    await service.sql(`update customers set kyc_status = 'verified' where id = $1`, [owner.ownerId])
    const { key } = await aKey(owner.client, { environment: 'live' })
    await create(owner.key, 'mode')
    const live = await create(String(key), 'mode')
    expect([live.status, isReplay(live)]).toEqual([201, false])
  })

  test('is its operation', async () => {
    await create(owner.key, 'operation')
    const policy = await owner.client.policies.create({ body: { name: 'P' }, idempotencyKey: 'operation' })
    expect([policy.status, policy.headers.has('idempotent-replayed')]).toEqual([201, false])
  })

  test('is its agent', async () => {
    const actor = (agentId: string | null): Actor => ({
      type: agentId ? 'agent' : 'key',
      id: 'token_1',
      tenant: { ownerId: 'customer_1', mode: 'test' },
      agentId,
      scopes: new Set(),
    })
    const body = { name: 'A', description: null, externalId: null, policyId: null, metadata: {} }
    const run = (agentId: string | null) =>
      engine.run(
        { ownerId: 'customer_1', mode: 'test' },
        'agents.create',
        { body },
        { actor: actor(agentId), idempotencyKey: 'a' },
      )
    const outcomes = [await run(null), await run('agent_1'), await run('agent_2'), await run('agent_1')]
    expect(outcomes.map(({ replayed }) => replayed === true)).toEqual([false, false, false, true])
  })
})

describe('a stored answer that is for its caller alone', () => {
  const subscribe = (client: typeof owner.client) =>
    client.push.create({
      body: {
        endpoint: 'https://push.example.com/of-one-device',
        keys: {
          p256dh: 'BEl62iUYgUivxIkv69yViEuiBIa-Ib9-SkvMeAtA3LFgDzkrxZJjSgSnfckjBJuBkr3qBUYIHBQFLXYp5Nksh8U',
          auth: 'UxI4O8-FbRouAevSmBQ6cw',
        },
        events: ['intent.created'],
        label: 'A phone',
      },
      idempotencyKey: 'one-device',
    })

  test('is not repeated for another key of the owner, but for the one that replaces it', async () => {
    const { key, id } = await bodyOf(
      owner.client.keys.create({ body: { name: 'A', environment: 'sandbox' } }),
    )
    const asked = service.client(String(key))
    const first = await subscribe(asked)
    expect(first.status).toBe(201)
    const other = await subscribe(owner.client)
    expect(other).toMatchObject({ status: 422, code: 'idempotency_key_reused' })
    expect(other.error).toContain('credential')
    const rotated = await bodyOf(asked.keys.rotate({ params: { id }, body: { overlapMinutes: 0 } }))
    expect((await subscribe(service.client(String(rotated.key)))).body).toEqual(first.body)
  })
})

describe('a secret that is shown once', () => {
  const createKey = () =>
    owner.client.keys.create({ body: { name: 'Secret', environment: 'sandbox' }, idempotencyKey: 'secret' })

  test('is null in the replay, and stored nowhere', async () => {
    const { body: first } = await createKey()
    const { status, body: again } = await createKey()
    expect(status).toBe(201)
    expect(again).toEqual({ ...first, key: null })
    for (const table of ['idempotency_keys', 'events', 'keys']) {
      const rows = await service.sql(`select t::text as text from ${table} t`)
      expect(rows.filter(({ text }) => text.includes(first.key))).toEqual([])
    }
  })
})
