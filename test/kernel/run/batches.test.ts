import { beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { areas } from '../../../src/areas.ts'
import { newId } from '../../../src/values/ids.ts'
import { startEngine } from '../../support/engine.ts'
import { times } from '../../support/sample-service.ts'
import { POT_TABLES, potsArea } from '../../support/sample-noun.ts'

const engine = await startEngine({ ...areas, pots: potsArea(async () => 'heard') }, POT_TABLES)
const { batches } = engine
const tenant = { ownerId: 'customer_1', mode: 'test' } as const

beforeEach(() => void batches.splice(0))

async function pot(leftOver: number): Promise<string> {
  const id = newId('pot')
  await engine.sql('insert into pots values ($1, $2, $3, $4)', [id, tenant.ownerId, tenant.mode, leftOver])
  return id
}

async function take(potId: string, amount = 1, idempotencyKey: string | null = null) {
  const { status, body, replayed } = await engine.run(
    tenant,
    'pots.take',
    { params: { id: potId }, body: { amount } },
    { idempotencyKey },
  )
  return { status, body: JSON.parse(String(body)), replayed: replayed === true }
}

/** Smallest first: two batches are under way at once, and either may end first. */
const sizes = () => batches.map(({ size }) => size).toSorted((a, b) => a - b)
const roundTrips = () => new Set(batches.map(trip => trip.roundTrips))

describe('what arrives in one turn', () => {
  test('is gathered', async () => {
    const potId = await pot(100)
    await times(66, () => take(potId))
    expect(sizes()).toEqual([2, 64])
  })

  test('is at most 64 at a time', async () => {
    const potId = await pot(200)
    await times(150, () => take(potId))
    expect(Math.max(...sizes())).toBe(64)
    expect(sizes().reduce((sum, size) => sum + size)).toBe(150)
  })

  test('takes as many round trips as a single request', async () => {
    const potId = await pot(100)
    await times(66, () => take(potId))
    expect(roundTrips()).toEqual(new Set([6]))
  })

  test('takes one more to look up its keys, however many they are', async () => {
    const potId = await pot(100)
    await times(66, index => take(potId, 1, `key-${index}`))
    expect(sizes()).toEqual([2, 64])
    expect(roundTrips()).toEqual(new Set([7]))
  })

  test('is answered from what is kept without looking at the pot', async () => {
    const potId = await pot(100)
    await take(potId, 1, 'kept')
    batches.splice(0)
    expect((await take(potId, 1, 'kept')).replayed).toBe(true)
    expect(roundTrips()).toEqual(new Set([4]))
  })

  test('with one key is done once, and the others in its batch wait without spoiling it', async () => {
    const potId = await pot(10)
    const key = (index: number) => (index < 2 ? `before-${index}` : 'one')
    const answers = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => take(potId, 1, key(index))),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBe(3)
    expect(sizes()).toEqual([12])
    expect(await left(potId)).toBe(7)
  })

  test('waits for no other owner', async () => {
    const potId = await pot(10)
    const stranger = { ownerId: 'customer_2', mode: 'test' } as const
    const mine = times(4, () => take(potId))
    const { status } = await engine.run(stranger, 'pots.take', { params: { id: potId }, body: { amount: 1 } })
    await mine
    expect(status).toBe(404)
    expect(sizes()).toEqual([1, 4])
  })

  test('runs apart in the two modes of one owner', async () => {
    const potId = await pot(10)
    const { status } = await engine.run({ ...tenant, mode: 'live' }, 'pots.take', {
      params: { id: potId },
      body: { amount: 1 },
    })
    expect(status).toBe(404)
  })

  test('is split where one spoils it, and only then', async () => {
    const potId = await pot(100)
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => take(potId, index === 5 ? 13 : 1)),
    )
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 10 }, (_, index) => (index === 5 ? 'rejected' : 'fulfilled')),
    )
    expect(sizes()).toEqual(Array(9).fill(1))
  })

  test('has one instant a batch, and an id each', async () => {
    const potId = await pot(100)
    const answers = await times(40, () => take(potId))
    const { rows } = await engine.sql(
      `select count(distinct created_at)::int as instants from events where data ->> 'potId' = $1`,
      [potId],
    )
    expect(rows[0].instants).toBeLessThanOrEqual(3)
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(40)
  })
})

const START = 40

const request = fc.record({
  pot: fc.nat(2),
  amount: fc.integer({ min: 1, max: 20 }).filter(amount => amount !== 13),
  key: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: null }),
})

/** What three pots would say if they were asked one after another. */
function oracle() {
  const left = [START, START, START]
  const kept = new Map<string, { pot: number; amount: number; said: { status: number; left?: number } }>()
  return ({ pot, amount, key }: { pot: number; amount: number; key: string | null }) => {
    const known = key === null ? undefined : kept.get(key)
    if (known) return known.pot === pot && known.amount === amount ? known.said : { status: 422 }
    const enough = (left[pot] ?? 0) >= amount
    if (enough) left[pot] = (left[pot] ?? 0) - amount
    const said = enough ? { status: 201, left: left[pot] as number } : { status: 400 }
    if (key !== null) kept.set(key, { pot, amount, said })
    return said
  }
}

describe('any series of requests', () => {
  test('is answered as the oracle says, one after another', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 30 }), async requests => {
        const pots = await times(3, () => pot(START))
        const say = oracle()
        const round = newId('round')
        for (const one of requests) {
          const expected = say(one)
          const key = one.key && `${round}-${one.key}`
          const answer = await take(pots[one.pot] as string, one.amount, key).catch(({ status }) => ({
            status,
            body: {},
          }))
          expect({ status: answer.status, left: answer.body.left }).toEqual({ left: undefined, ...expected })
        }
      }),
      { numRuns: 15 },
    )
  })

  test('is answered at once as if it had been in some order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 80 }), async requests => {
        const pots = await times(3, () => pot(START))
        const answers = await times(requests.length, index => {
          const { pot: of, amount } = requests[index] as (typeof requests)[number]
          return take(pots[of] as string, amount)
        })
        const all = answers.map((answer, index) => ({
          ...answer,
          ...(requests[index] as (typeof requests)[number]),
        }))
        for (const [index, potId] of pots.entries())
          expectChain(
            all.filter(({ pot: of }) => of === index),
            await left(potId),
          )
      }),
      { numRuns: 25 },
    )
  })
})

interface Answered {
  readonly status: number
  readonly amount: number
  readonly body: { readonly left: number }
}

/** Each taking begins where one other ended, and what was refused was more than there was in the end. */
function expectChain(answers: readonly Answered[], end: number): void {
  let there = START
  const taken = answers.filter(({ status }) => status === 201)
  for (const { amount, body } of taken.toSorted((a, b) => b.body.left - a.body.left)) {
    there -= amount
    expect(body.left).toBe(there)
  }
  expect(end).toBe(there)
  for (const { status, amount } of answers) if (status !== 201) expect(amount).toBeGreaterThan(end)
}

async function left(potId: string): Promise<number> {
  const { rows } = await engine.sql('select left_over::int as left from pots where id = $1', [potId])
  return rows[0].left
}
