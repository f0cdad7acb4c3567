import './batches/reactions.ts'
import { beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { areas } from '../../../src/areas.ts'
import { newId } from '../../../src/values/ids.ts'
import { times } from '../../support/at-once.ts'
import { startEngine } from '../../support/engine.ts'
import { SAMPLE_TABLES, sampleArea } from '../../support/sample-noun.ts'

const NOTED_WAITS =
  "alter table withdrawals add column longest_wait text default current_setting('lock_timeout')"
const TABLES = `${SAMPLE_TABLES} ${NOTED_WAITS}`
const engine = await startEngine({ ...areas, samples: sampleArea(async () => 'confirmed') }, TABLES)
const { batches } = engine
const lanes = {
  of: ({ params }: { readonly params: { readonly id: string } }) => params.id,
  sharedTimeoutMs: 50,
  ownTimeoutMs: 1_000,
  free: async (ids: readonly string[]) => ids,
}
const inLanes = await startEngine({ ...areas, samples: sampleArea(async () => 'confirmed', lanes) }, TABLES)
const tenant = { ownerId: 'customer_1', mode: 'test' } as const

beforeEach(() => void batches.splice(0))

async function sample(balance: number): Promise<string> {
  const id = newId('sample')
  await engine.sql('insert into samples values ($1, $2, $3, $4)', [id, tenant.ownerId, tenant.mode, balance])
  return id
}

async function withdraw(sampleId: string, amount = 1, idempotencyKey: string | null = null) {
  const { status, body, replayed } = await engine.run(
    tenant,
    'samples.withdraw',
    { params: { id: sampleId }, body: { amount } },
    { idempotencyKey },
  )
  return { status, body: JSON.parse(String(body)), replayed: replayed === true }
}

/** The sizes of the batches, sorted: two batches run at once, and either may end first. */
const sizes = () => batches.map(({ size }) => size).toSorted((a, b) => a - b)
const roundTrips = () => new Set(batches.map(trip => trip.roundTrips))

describe('requests that arrive in one turn of the event loop', () => {
  test('are batched', async () => {
    const sampleId = await sample(100)
    await times(66, () => withdraw(sampleId))
    expect(sizes()).toEqual([2, 64])
  })

  test('fill batches of at most 64', async () => {
    const sampleId = await sample(200)
    await times(150, () => withdraw(sampleId))
    expect(Math.max(...sizes())).toBe(64)
    expect(sizes().reduce((sum, size) => sum + size)).toBe(150)
  })

  test('take as many round trips as a single request', async () => {
    const sampleId = await sample(100)
    await times(66, () => withdraw(sampleId))
    expect(roundTrips()).toEqual(new Set([6]))
  })

  test('take one more round trip to look up their keys, however many', async () => {
    const sampleId = await sample(100)
    await times(66, index => withdraw(sampleId, 1, `key-${index}`))
    expect(sizes()).toEqual([2, 64])
    expect(roundTrips()).toEqual(new Set([7]))
  })

  test('are replayed without reading the sample', async () => {
    const sampleId = await sample(100)
    await withdraw(sampleId, 1, 'kept')
    batches.splice(0)
    expect((await withdraw(sampleId, 1, 'kept')).replayed).toBe(true)
    expect(roundTrips()).toEqual(new Set([4]))
  })

  test('are done once for one key, and its other requests fail without spoiling the batch', async () => {
    const sampleId = await sample(10)
    const key = (index: number) => (index < 2 ? `before-${index}` : 'one')
    const answers = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => withdraw(sampleId, 1, key(index))),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled').length).toBe(3)
    expect(sizes()).toEqual([12])
    expect(await balanceOf(sampleId)).toBe(7)
  })

  test('wait for no other owner', async () => {
    const sampleId = await sample(10)
    const stranger = { ownerId: 'customer_2', mode: 'test' } as const
    const mine = times(4, () => withdraw(sampleId))
    const { status } = await engine.run(stranger, 'samples.withdraw', {
      params: { id: sampleId },
      body: { amount: 1 },
    })
    await mine
    expect(status).toBe(404)
    expect(sizes()).toEqual([1, 4])
  })

  test('are kept apart by mode', async () => {
    const sampleId = await sample(10)
    const { status } = await engine.run({ ...tenant, mode: 'live' }, 'samples.withdraw', {
      params: { id: sampleId },
      body: { amount: 1 },
    })
    expect(status).toBe(404)
  })

  test('are run one by one when one of them spoils the batch', async () => {
    const sampleId = await sample(100)
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, index) => withdraw(sampleId, index === 5 ? 13 : 1)),
    )
    expect(answers.map(({ status }) => status)).toEqual(
      Array.from({ length: 10 }, (_, index) => (index === 5 ? 'rejected' : 'fulfilled')),
    )
    expect(sizes()).toEqual(Array(9).fill(1))
  })

  test('wait for a locked row in a batch, and hardly where they are run one by one', async () => {
    const [together, oneByOne] = [await sample(10), await sample(100)]
    await times(2, () => withdraw(together))
    await Promise.allSettled([1, 13].map(amount => withdraw(oneByOne, amount)))
    const { rows } = await engine.sql(
      'select distinct sample_id, longest_wait from withdrawals where sample_id = any($1)',
      [[together, oneByOne]],
    )
    expect(new Map(rows.map(row => [row.sample_id, row.longest_wait]))).toEqual(
      new Map([
        [together, '3s'],
        [oneByOne, '10ms'],
      ]),
    )
  })

  test('wait for a locked row as long as their lanes say', async () => {
    await inLanes.sql(`insert into samples values ('sample_1', $1, $2, 10)`, [tenant.ownerId, tenant.mode])
    await inLanes.run(tenant, 'samples.withdraw', { params: { id: 'sample_1' }, body: { amount: 1 } })
    const { rows } = await inLanes.sql('select longest_wait from withdrawals')
    expect(rows).toEqual([{ longest_wait: '50ms' }])
  })

  test('share one instant per batch, and have an id each', async () => {
    const sampleId = await sample(100)
    const answers = await times(40, () => withdraw(sampleId))
    const { rows } = await engine.sql(
      `select count(distinct created_at)::int as instants from events where data ->> 'sampleId' = $1`,
      [sampleId],
    )
    expect(rows[0].instants).toBeLessThanOrEqual(3)
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(40)
  })
})

const START = 40

const request = fc.record({
  sample: fc.nat(2),
  amount: fc.integer({ min: 1, max: 20 }).filter(amount => amount !== 13),
  key: fc.option(fc.constantFrom('a', 'b', 'c', 'd'), { nil: null }),
})

/** The answers of three samples to requests one after another. */
function sequentialModel() {
  const balances = [START, START, START]
  const answers = new Map<
    string,
    { sample: number; amount: number; answer: { status: number; left?: number } }
  >()
  return ({ sample, amount, key }: { sample: number; amount: number; key: string | null }) => {
    const stored = key === null ? undefined : answers.get(key)
    if (stored) return stored.sample === sample && stored.amount === amount ? stored.answer : { status: 422 }
    const enough = (balances[sample] ?? 0) >= amount
    if (enough) balances[sample] = (balances[sample] ?? 0) - amount
    const answer = enough ? { status: 201, left: balances[sample] as number } : { status: 400 }
    if (key !== null) answers.set(key, { sample, amount, answer })
    return answer
  }
}

describe('any series of requests', () => {
  test('has the answers of the sequential model if sent one after another', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 30 }), async requests => {
        const samples = await times(3, () => sample(START))
        const expectedOf = sequentialModel()
        const round = newId('round')
        for (const sent of requests) {
          const expected = expectedOf(sent)
          const key = sent.key && `${round}-${sent.key}`
          const answer = await withdraw(samples[sent.sample] as string, sent.amount, key).catch(
            ({ status }) => ({
              status,
              body: {},
            }),
          )
          expect({ status: answer.status, left: answer.body.left }).toEqual({ left: undefined, ...expected })
        }
      }),
      { numRuns: 15 },
    )
  })

  test('has the answers of some sequential order if sent concurrently', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(request, { maxLength: 80 }), async requests => {
        const samples = await times(3, () => sample(START))
        const answers = await times(requests.length, index => {
          const { sample: of, amount } = requests[index] as (typeof requests)[number]
          return withdraw(samples[of] as string, amount)
        })
        const all = answers.map((answer, index) => ({
          ...answer,
          ...(requests[index] as (typeof requests)[number]),
        }))
        for (const [index, sampleId] of samples.entries())
          expectChain(
            all.filter(({ sample: of }) => of === index),
            await balanceOf(sampleId),
          )
      }),
      { numRuns: 25 },
    )
  })
})

interface WithdrawalResponse {
  readonly status: number
  readonly amount: number
  readonly body: { readonly left: number }
}

/** Each withdrawal begins at the balance where another ended, and each refused amount exceeds the final balance. */
function expectChain(answers: readonly WithdrawalResponse[], end: number): void {
  let balance = START
  const withdrawals = answers.filter(({ status }) => status === 201)
  for (const { amount, body } of withdrawals.toSorted((a, b) => b.body.left - a.body.left)) {
    balance -= amount
    expect(body.left).toBe(balance)
  }
  expect(end).toBe(balance)
  for (const { status, amount } of answers) if (status !== 201) expect(amount).toBeGreaterThan(end)
}

async function balanceOf(sampleId: string): Promise<number> {
  const { rows } = await engine.sql('select balance::int as left from samples where id = $1', [sampleId])
  return rows[0].left
}
