import './spend/at-once.ts'
import { afterAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import { countSpend, isSpendCountBehind, readSpend } from '../../src/insight/spend/index.ts'
import { readSpendSnapshot } from '../../src/insight/spend/tail.ts'
import { sqlOn } from '../../src/kernel/database/prepared-sql.ts'
import { startTestService } from '../support/harness.ts'
import { EVER, everything, expectExact } from '../support/insight/exact.ts'
import {
  aSpender,
  type Spender,
  type SpendStep,
  stepNames,
  stepsOn,
} from '../support/insight/random-spends.ts'
import { fastSums, slowLines, slowSums } from '../support/insight/slow-spend.ts'

const service = await startTestService({ own: true })
const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 6 })
afterAll(() => pool.end())
const sql = sqlOn(pool)

const take = stepsOn(pool, service.databaseUrl)

const often: SpendStep[0][] = [
  'authorize',
  'authorize',
  'clear',
  'clear',
  'comeBack',
  'declare',
  'declare',
  'pay',
  'pay',
  'sendBack',
  'payLabelled',
]
const step = fc.tuple(fc.constantFrom(...often, ...stepNames), fc.integer({ min: 0, max: 191 }))

/** A card payment that the rules decline, and the network clears anyway. */
const declinedFirst: SpendStep[] = [
  ['authorize', 8],
  ['count', 0],
  ['clear', 0],
  ['count', 0],
]

/** At any hour, it is another day than in UTC in one of these zones. */
const ABROAD = ['Pacific/Kiritimati', 'Pacific/Niue']

describe('the sums of what was spent', () => {
  test('equal the slow query after every step, however payments, what comes back and followers interleave', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 25 }), async steps => {
        const spender = await aSpender(service)
        for (const next of steps) {
          await take(spender, next)
          await expectExact(service, sql, spender)
        }
        await countSpend({ pool })
        await expectExact(service, sql, spender)
      }),
      { numRuns: 5, examples: [[everything], [declinedFirst]] },
    )
  })

  test.each(ABROAD)('use days in UTC in every time zone of the database: %s', async zone => {
    const options = `-c timezone=${zone}`
    const abroad = new pg.Pool({ connectionString: service.databaseUrl, max: 2, options })
    const spender = await aSpender(service)
    for (const next of everything) await take(spender, next)
    await expectExact(service, sqlOn(abroad), spender)
    await countSpend({ pool: abroad })
    await expectExact(service, sqlOn(abroad), spender)
    await expectExact(service, sql, spender)
    await abroad.end()
  })

  test('have as much coming back of each payment as the payment says', async () => {
    const apart = `
      select t.id from transactions t
      where t.refunded_cents <> (select coalesce(sum(cents), 0) from transaction_refunds r
        where (r.owner_id, r.mode, r.transaction_id) = (t.owner_id, t.mode, t.id))`
    expect(await service.sql(apart)).toEqual([])
    expect(await service.sql('select from transaction_refunds limit 1')).toHaveLength(1)
  })

  test('are made from the journal’s beginning where they did not exist, in bounded steps, and reports are right meanwhile', async () => {
    const spender = await aSpender(service)
    for (const next of everything) await take(spender, next)
    await pool.query(
      'truncate spend_cells, spend_counted, merchant_names; update spend_position set written_in = 0',
    )
    const MOST_EVENTS = 40
    let steps = 0
    for (let since = 0n; await isSpendCountBehind(sql); steps++) {
      let looked = 0
      await countSpend({ pool }, { most: MOST_EVENTS, isStopping: () => looked++ > 0 })
      const [position] = await sql<{ until: bigint }>('select written_in as until from spend_position')
      const until = position?.until ?? since
      const within =
        'select written_in from events where written_in >= $1 and written_in < $2 order by written_in'
      const counted = await sql<{ written_in: bigint }>(within, [since, until])
      const last = counted.at(-1)?.written_in
      expect(counted.filter(({ written_in }) => written_in !== last).length).toBeLessThanOrEqual(MOST_EVENTS)
      if (steps % 10 === 0) await expectExact(service, sql, spender)
      since = until
    }
    expect(steps).toBeGreaterThan(5)
    await expectExact(service, sql, spender)
  })

  test('equal the slow query while sixteen pay, two count, and a report is read again and again', async () => {
    const spenders = await Promise.all(Array.from({ length: 4 }, () => aSpender(service)))
    let isOver = false
    const until = async (work: () => Promise<unknown>) => {
      while (!isOver) await work()
    }
    const paying = Promise.all(
      spenders.flatMap(spender =>
        Array.from({ length: 4 }, async (_, n) => {
          for (const name of ['authorize', 'clear', 'comeBack', 'declare', 'pay'] as const)
            await take(spender, [name, n])
        }),
      ),
    ).finally(() => {
      isOver = true
    })
    const [{ ownerId }] = spenders as [Spender]
    const reading = until(() => expectSameInstant(ownerId))
    await Promise.all([
      paying,
      reading,
      until(() => countSpend({ pool }, { most: 20 })),
      until(() => countSpend({ pool })),
    ])
    for (const spender of spenders) await expectExact(service, sql, spender)
  })
})

/** Both reads share one snapshot, so a payment in between is in both or in neither. */
async function expectSameInstant(ownerId: string): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin isolation level repeatable read')
    const within = {
      sql: async <R extends object>(text: string, values?: unknown[]) =>
        (await client.query(text, values)).rows as R[],
    }
    const lines = await slowLines(within, ownerId)
    const question = { ...EVER, views: ['merchant'], by: ['day', 'value'] } as const
    const spend = await readSpendSnapshot(sqlOn(client), { ownerId, mode: 'test' }, { views: ['merchant'] })
    const sums = await readSpend(spend, question)
    expect(fastSums(sums, ({ day, value }) => `${day} ${value}`)).toEqual(
      slowSums(lines, line => `${line.day} ${line.merchant}`),
    )
    await client.query('commit')
  } finally {
    client.release()
  }
}
