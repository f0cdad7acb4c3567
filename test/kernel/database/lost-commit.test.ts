import { describe, expect, test } from '@jest/globals'
import { statusCounts, times } from '../../support/at-once.ts'
import { signed } from '../../support/cards/signatures.ts'
import { type FlakyProxy, flakyProxy } from '../../support/flaky-proxy.ts'
import { startSampleService } from '../../support/sample-service.ts'
import { until } from '../../support/until.ts'

let proxy!: FlakyProxy
const POOL = 4
const service = await startSampleService({
  env: { DATABASE_POOL: String(POOL) },
  async through(url) {
    proxy = await flakyProxy(url)
    return proxy.url
  },
})
const owner = await service.owner()

const operations = {
  hot: async () => {
    const sampleId = await service.sample(owner, 10)
    return {
      run: (idempotencyKey: string) =>
        owner.client.samples.withdraw({ params: { id: sampleId }, body: { amount: 3 }, idempotencyKey }),
      traces: () => service.traces(sampleId),
    }
  },
  plain: async () => {
    const name = `Agent ${Math.random()}`
    return {
      run: (idempotencyKey: string) => owner.client.agents.create({ body: { name }, idempotencyKey }),
      async traces() {
        const ids = await service.sql('select id from agents where name = $1', [name])
        const [row] = await service.sql(
          `select (select count(*)::int from events where data ->> 'agentId' = any($1)) as events,
            (select count(*)::int from events where resource_id = any($1)) as audit`,
          [ids.map(({ id }) => id)],
        )
        return { withdrawals: ids.length, ...row }
      },
    }
  },
}

/** Works while every commit of an event takes half a second. */
async function slowly(work: () => Promise<void>): Promise<void> {
  await service.sql(`
    create function linger() returns trigger language plpgsql as 'begin perform pg_sleep(0.5); return null; end';
    create constraint trigger linger after insert on events deferrable initially deferred
      for each row execute function linger()`)
  await work().finally(() => service.sql('drop function linger cascade'))
}

const WRITTEN_ONCE = { withdrawals: 1, events: 1, audit: 1 }
const NOT_WRITTEN = { withdrawals: 0, events: 0, audit: 0 }

describe.each(['hot', 'plain'] as const)('a %s operation that loses its connection at commit', kind => {
  test('succeeds if the commit had arrived', async () => {
    const { run, traces } = await operations[kind]()
    proxy.cutCommits('after')
    const { status } = await run('a')
    expect(status).toBe(201)
    expect(await traces()).toEqual(WRITTEN_ONCE)
    const again = await run('a')
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(await traces()).toEqual(WRITTEN_ONCE)
  })

  test('fails with 503 and Retry-After if the commit had not arrived, and leaves nothing behind', async () => {
    const { run, traces } = await operations[kind]()
    proxy.cutCommits('before')
    const { status, code, headers } = await run('b')
    expect({ status, code }).toEqual({ status: 503, code: 'unavailable' })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await traces()).toEqual(NOT_WRITTEN)
    expect((await run('b')).status).toBe(201)
    expect(await traces()).toEqual(WRITTEN_ONCE)
  })

  test('waits for a commit that takes long', async () => {
    const { run, traces } = await operations[kind]()
    proxy.cutCommits('during')
    await slowly(async () => expect((await run('c')).status).toBe(201))
    expect(await traces()).toEqual(WRITTEN_ONCE)
  })

  test.each(['before', 'after'] as const)(
    'gives its place in the pool back, cut %s the commit',
    async cut => {
      const { run } = await operations[kind]()
      for (let lost = 0; lost < 2 * POOL; lost++) {
        proxy.cutCommits(cut)
        await run(`${cut} ${lost}`.replace(' ', '-'))
      }
      expect((await owner.client.agents.list()).status).toBe(200)
    },
  )
})

describe('a refusal whose commit is lost', () => {
  const refusals = {
    hot: async () => {
      const sampleId = await service.sample(owner, 1)
      return (idempotencyKey: string) =>
        owner.client.samples.withdraw({ params: { id: sampleId }, body: { amount: 2 }, idempotencyKey })
    },
    plain: async () => {
      const body = { name: 'A', externalId: 'taken' }
      await owner.client.agents.create({ body })
      return (idempotencyKey: string) => owner.client.agents.create({ body, idempotencyKey })
    },
  }

  test.each(['hot', 'plain'] as const)(
    'of a %s operation is answered with outcome_unknown, and as itself when it is repeated',
    async kind => {
      const run = await refusals[kind]()
      proxy.cutCommits('after')
      const { status, code } = await run(`refused-${kind}`)
      expect({ status, code }).toEqual({ status: 503, code: 'outcome_unknown' })
      const again = await run(`refused-${kind}`)
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([
        kind === 'hot' ? 400 : 409,
        'true',
      ])
    },
  )
})

describe('a database that is lost', () => {
  test('makes a signed request a 503 that asks to repeat it after a second', async () => {
    const content = { kind: 'expiry', authorizationId: 'x' }
    const body = JSON.stringify({ id: 'x', processorCardId: 'unknown', sentAt: new Date(), content })
    const post = () => service.http('POST', '/rails/card-processor', { headers: signed(body), body })
    await proxy.close()
    const { status, headers } = await post()
    await proxy.open()
    expect([status, headers.get('x-error-code'), headers.get('retry-after')]).toEqual([
      503,
      'unavailable',
      '1',
    ])
    await until('the database is back', async () => (await post()).status === 200)
  })
})

describe('a database that is lost under load', () => {
  test('causes 503 with Retry-After until it is back', async () => {
    const { run, traces } = await operations.plain()
    const underWay = times(20, index => run(`c-${index}`))
    await proxy.close()
    const answers = [...(await underWay), ...(await times(3, index => run(`d-${index}`)))]
    for (const { status, headers } of answers)
      expect(status === 201 || (status === 503 && headers.has('retry-after'))).toBe(true)
    await proxy.open()
    const after = await times(3 * POOL, index => run(`e-${index}`))
    expect(statusCounts(after)).toEqual({ 201: 3 * POOL })
    const succeeded = [...answers, ...after].filter(({ status }) => status === 201).length
    expect((await traces()).withdrawals).toBe(succeeded)
  })
})
