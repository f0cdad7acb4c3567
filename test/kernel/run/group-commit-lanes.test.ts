import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { type PotOwner, startPots, tally, times } from '../../support/sample-service.ts'

const POOL = 6
const service = await startPots({ env: { DATABASE_POOL: String(POOL) } })
const [busy, calm] = [await service.owner(), await service.owner()]

const take = ({ client }: PotOwner, potId: string) =>
  client.pots.take({ params: { id: potId }, body: { amount: 1 } })

/** Works while another connection holds the row. */
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

const LOCK = 'select from pots where id = $1 for update'

describe('a pot that somebody else holds', () => {
  test('is busy: 503, and when to try again', async () => {
    const potId = await service.pot(busy, 1)
    const { status, code, headers } = await whileLocked(LOCK, [potId], () => take(busy, potId))
    expect({ status, code }).toEqual({ status: 503, code: 'busy' })
    expect(headers.get('retry-after')).toMatch(/^\d+$/)
    expect((await take(busy, potId)).status).toBe(201)
  })

  test('delays its own requests, not those of its owner’s other pots', async () => {
    const [held, free] = [await service.pot(busy, 64), await service.pot(busy, 64)]
    const answers = await whileLocked(LOCK, [held], () =>
      times(32, index => take(busy, index % 8 ? free : held)),
    )
    expect(tally(answers)).toEqual({ 201: 28, 503: 4 })
    expect([await service.left(held), await service.left(free)]).toEqual([64, 36])
  })

  test('delays no other owner, however many want it', async () => {
    const [held, free] = [await service.pot(busy, 64), await service.pot(calm, 64)]
    await whileLocked(LOCK, [held], async () => {
      let waiting = 64
      const stuck = times(64, () => take(busy, held).finally(() => waiting--))
      for (let taken = 0; taken < 32; taken++) expect((await take(calm, free)).status).toBe(201)
      expect(waiting).toBeGreaterThan(0)
      expect(tally(await stuck)).toEqual({ 503: 64 })
    })
  })
})

describe('a record that somebody else holds', () => {
  test('is busy for a plain run too, after a while', async () => {
    const { body: agent } = await busy.client.agents.create({ body: { name: 'Held' } })
    const { status, code } = await whileLocked(
      'select from agents where id = $1 for update',
      [agent.id],
      () => busy.client.agents.freeze({ params: { id: agent.id } }),
    )
    expect({ status, code }).toEqual({ status: 503, code: 'busy' })
  })
})
