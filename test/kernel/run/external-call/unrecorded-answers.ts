import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import type { ApiCall } from '../../../../src/kernel/contract/call.ts'
import { Problem } from '../../../../src/kernel/contract/problem.ts'
import { UnrecordedAnswers } from '../../../../src/kernel/run/unrecorded-answers.ts'
import { openDatabase } from '../../../../src/platform/database.ts'
import { openEngine } from '../../../support/engine.ts'
import { type FlakyProxy, flakyProxy } from '../../../support/flaky-proxy.ts'
import { DASHBOARD_SECRET } from '../../../support/harness.ts'
import { sampleArea } from '../../../support/sample-noun.ts'
import { startSampleService } from '../../../support/sample-service.ts'
import { until } from '../../../support/until.ts'

let proxy!: FlakyProxy
let isAway = false
let calls = 0

async function goAway(): Promise<void> {
  isAway = true
  await proxy.close()
}

async function comeBack(): Promise<void> {
  if (!isAway) return
  isAway = false
  await proxy.open()
}

const service = await startSampleService({
  callSystem: async () => {
    calls++
    await goAway()
    return 'confirmed'
  },
  async through(url) {
    proxy = await flakyProxy(url)
    return proxy.url
  },
})
const owner = await service.owner()
/** Another process that reaches the database. */
const other = openEngine({ ...areas, samples: sampleArea(async () => 'confirmed') }, service.databaseUrl)
afterAll(() => other.close())
afterEach(comeBack)

const ask = (id: string, idempotencyKey: string) =>
  owner.client.samples.inquire({ params: { id }, idempotencyKey })

const states = async (id: string) =>
  (await service.sql('select state from inquiries where sample_id = $1', [id])).map(({ state }) => state)

/** The number of unrecorded answers, from the metrics of the process. */
async function kept(): Promise<string | undefined> {
  const { text } = await service.http('GET', '/metrics', {
    headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
  })
  return /^answers_kept (\d+)$/m.exec(text)?.[1]
}

describe('an answer that arrives while the database is unavailable', () => {
  test('is recorded once the database is back, without another request', async () => {
    const id = await service.sample(owner, 1)
    const before = calls
    const { status, code, headers } = await ask(id, 'kept')
    expect({ status, code }).toEqual({ status: 503, code: 'outcome_unknown' })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    expect([await states(id), await kept()]).toEqual([['reserved'], '1'])
    await comeBack()
    await until('it is recorded', async () => (await states(id))[0] === 'confirmed')
    await until('none is kept', async () => (await kept()) === '0')
    expect((await ask(id, 'kept')).body).toMatchObject({ answer: 'confirmed' })
    expect(calls).toBe(before + 1)
    expect((await service.traces(id)).events).toBe(1)
  })

  test('is the answer of its own request where the database is back in a moment', async () => {
    const id = await service.sample(owner, 1)
    const asked = ask(id, 'moment')
    await until('the answer is kept', async () => (await kept()) === '1')
    await comeBack()
    const { status, body } = await asked
    expect({ status, answer: body.answer }).toEqual({ status: 200, answer: 'confirmed' })
  })

  test('changes nothing where another process has decided the record first', async () => {
    const id = await service.sample(owner, 1)
    const asked = ask(id, 'decided')
    await until('the answer is kept', async () => (await kept()) === '1')
    await service.sql(`update idempotency_keys set leased_by = 'dead' where key = 'decided'`)
    const tenant = { ownerId: owner.ownerId, mode: 'test' } as const
    const decided = await other.run(
      tenant,
      'samples.inquire',
      { params: { id } },
      { idempotencyKey: 'decided' },
    )
    expect(JSON.parse(String(decided.body))).toMatchObject({ answer: 'unknown' })
    await comeBack()
    expect((await asked).body).toMatchObject({ answer: 'unknown' })
    await until('none is kept', async () => (await kept()) === '0')
    expect([await states(id), (await service.traces(id)).events]).toEqual([['unknown'], 1])
  })
})

test('a process keeps a thousand answers and no more, and gives them up in time when it ends', async () => {
  const database = openDatabase(service.databaseUrl, 1)
  const told: string[] = []
  const answers = new UnrecordedAnswers(database, (_, now) => told.push(now))
  const keep = () =>
    answers.record(
      {} as ApiCall,
      () => Promise.reject(new Problem('unavailable')),
      () => undefined,
    )
  const keeping = Promise.allSettled(Array.from({ length: 1_000 }, keep))
  await until('a thousand are kept', () => answers.count === 1_000)
  await expect(keep()).rejects.toMatchObject({ code: 'unavailable' })
  expect(answers.count).toBe(1_000)
  await answers.stop()
  const ends = await keeping
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1_000)
  await until('all are told', () => told.filter(now => now === 'lost').length === 1_000)
  expect(answers.count).toBe(0)
  await database.close()
})
