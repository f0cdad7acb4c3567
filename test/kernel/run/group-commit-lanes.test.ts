import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { statusCounts, times } from '../../support/at-once.ts'
import { type SampleOwner, startSampleService } from '../../support/sample-service.ts'

const POOL = 6
const service = await startSampleService({ env: { DATABASE_POOL: String(POOL) } })
const [busy, calm] = [await service.owner(), await service.owner()]

const withdraw = ({ client }: SampleOwner, sampleId: string) =>
  client.samples.withdraw({ params: { id: sampleId }, body: { amount: 1 } })

async function whileLocked<T>(statement: string, values: unknown[], work: () => Promise<T>): Promise<T> {
  const holder = new pg.Client({ connectionString: service.databaseUrl })
  await holder.connect()
  try {
    await holder.query('begin')
    await holder.query(statement, values)
    return await work()
  } finally {
    await holder.end()
  }
}

const LOCK = 'select from samples where id = $1 for update'

describe('a sample that another transaction has locked', () => {
  test('answers 503 busy with a Retry-After', async () => {
    const sampleId = await service.sample(busy, 1)
    const { status, code, headers } = await whileLocked(LOCK, [sampleId], () => withdraw(busy, sampleId))
    expect({ status, code }).toEqual({ status: 503, code: 'busy' })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await withdraw(busy, sampleId)).status).toBe(201)
  })

  test('delays its own requests, not those of its owner’s other samples', async () => {
    const [locked, free] = [await service.sample(busy, 64), await service.sample(busy, 64)]
    const answers = await whileLocked(LOCK, [locked], () =>
      times(32, index => withdraw(busy, index % 8 ? free : locked)),
    )
    expect(statusCounts(answers)).toEqual({ 201: 28, 503: 4 })
    expect([await service.balance(locked), await service.balance(free)]).toEqual([64, 36])
  })

  test('delays no other owner, however many want it', async () => {
    const [locked, free] = [await service.sample(busy, 64), await service.sample(calm, 64)]
    await whileLocked(LOCK, [locked], async () => {
      let waiting = 64
      const blockedAnswers = times(64, () => withdraw(busy, locked).finally(() => waiting--))
      for (let count = 0; count < 8; count++) expect((await withdraw(calm, free)).status).toBe(201)
      expect(waiting).toBeGreaterThan(0)
      expect(statusCounts(await blockedAnswers)).toEqual({ 503: 64 })
    })
  })
})

describe('a record that another transaction has locked', () => {
  test('answers 503 busy to a plain operation too', async () => {
    const { body: agent } = await busy.client.agents.create({ body: { name: 'Held' } })
    const { status, code } = await whileLocked(
      'select from agents where id = $1 for update',
      [agent.id],
      () => busy.client.agents.freeze({ params: { id: agent.id } }),
    )
    expect({ status, code }).toEqual({ status: 503, code: 'busy' })
  })
})
