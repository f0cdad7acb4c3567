import { hash } from 'node:crypto'
import { afterAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import { countSpend, isBehind } from '../../src/insight/spend/index.ts'
import { readSpend, type View } from '../../src/insight/spend/read.ts'
import { sqlOn } from '../../src/kernel/database/prepared-sql.ts'
import { startTestService } from '../support/harness.ts'
import {
  aSpender,
  type Spender,
  type SpendStep,
  stepNames,
  stepsOn,
} from '../support/insight/random-spends.ts'
import { fastSums, slowKeptBack, slowLines, slowSums } from '../support/insight/slow-spend.ts'

const service = await startTestService()
const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 6 })
afterAll(() => pool.end())
const sql = sqlOn(pool)

const EVER = { from: '2000-01-01', before: '2100-01-01' }
const take = stepsOn(pool, service.databaseUrl)

/** A long text stands in the sums by its beginning and its digest. */
const asStored = (text: string): string =>
  text.length > 150 ? `${text.slice(0, 100)}… ${hash('md5', text)}` : text

/** The key by which a line of the slow query is in a cell of each view. */
const views = {
  agent: line => line.agent,
  merchant: line => line.merchant,
  mcc: line => line.mcc,
  wallet: line => line.wallet,
  type: line => line.type,
  run: line => line.run,
  'label:team': line => line.labels.team && asStored(line.labels.team),
} as const satisfies Partial<
  Record<View, (line: Awaited<ReturnType<typeof slowLines>>[number]) => string | undefined>
>

/** Every view, by day, agent and value, is what the slow query says. */
async function expectExact({ ownerId }: Pick<Spender, 'ownerId'>): Promise<void> {
  const tenant = { ownerId, mode: 'test' } as const
  const lines = await slowLines(service, ownerId)
  for (const [view, keyOf] of Object.entries(views)) {
    const by = ['day', 'agent', 'run', 'value'] as const
    const sums = await readSpend(sql, tenant, { ...EVER, views: [view as View], by })
    const keyOfSum = ({ agentId, runId, value }: (typeof sums)[number]) =>
      view === 'agent' ? agentId : view === 'run' ? runId : value
    expect([view, fastSums(sums, sum => `${sum.day} ${sum.agentId} ${keyOfSum(sum)}`)]).toEqual([
      view,
      slowSums(lines, line => {
        const key = keyOf(line)
        return key === undefined ? undefined : `${line.day} ${line.agent} ${key}`
      }),
    ])
  }
  const kept = await readSpend(sql, tenant, { ...EVER, views: ['kept_back'], by: ['day', 'agent', 'value'] })
  const sorted = Map.groupBy(kept, ({ day, agentId, value }) => `${day} ${agentId} ${value.split(' ')[0]}`)
  const found = [...sorted].map(([key, sums]) =>
    [
      key,
      sums.reduce((sum, { payments }) => sum + payments, 0),
      sums.reduce((sum, one) => sum + one.spentEuros, 0n),
    ].join(' '),
  )
  expect(found.sort()).toEqual(await slowKeptBack(service, ownerId))
}

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

/** Each thing that changes how a payment counts, in an order in which it does. */
const everything: SpendStep[] = [
  ['authorize', 0],
  ['payLabelled', 0],
  ['payLabelled', 2],
  ['authorize', 4],
  ['clear', 0],
  ['count', 0],
  ['comeBack', 1],
  ['killed', 0],
  ['nextDay', 0],
  ['comeBack', 2],
  ['clear', 1],
  ['countSlowly', 0],
  ['dispute', 0],
  ['dispute', 1],
  ['refundAlone', 0],
  ['authorize', 9],
  ['declare', 0],
  ['declare', 17],
  ['declare', 18],
  ['pay', 0],
  ['pay', 1],
  ['pay', 2],
  ['soon', 0],
  ['twoAtOnce', 0],
  ['sendBack', 0],
  ['deny', 3],
  ['reverse', 1],
  ['nextYear', 0],
  ['comeBack', 0],
  ['delete', 0],
  ['later', 0],
  ['expire', 1],
]

/** A payment by card that the rules have declined, and that the network books all the same. */
const declinedFirst: SpendStep[] = [
  ['authorize', 8],
  ['count', 0],
  ['clear', 0],
  ['count', 0],
]

describe('the sums of what was spent', () => {
  test('equal the slow query after every step, however payments, what comes back and followers interleave', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 25 }), async steps => {
        const spender = await aSpender(service)
        for (const next of steps) {
          await take(spender, next)
          await expectExact(spender)
        }
        await countSpend({ pool })
        await expectExact(spender)
      }),
      { numRuns: 5, examples: [[everything], [declinedFirst]] },
    )
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
    for (let since = 0n; await isBehind(sql); steps++) {
      let looked = 0
      await countSpend({ pool }, { most: MOST_EVENTS, isStopping: () => looked++ > 0 })
      const [position] = await sql<{ until: bigint }>('select written_in as until from spend_position')
      const until = position?.until ?? since
      const within =
        'select written_in from events where written_in >= $1 and written_in < $2 order by written_in'
      const counted = await sql<{ written_in: bigint }>(within, [since, until])
      const last = counted.at(-1)?.written_in
      expect(counted.filter(({ written_in }) => written_in !== last).length).toBeLessThanOrEqual(MOST_EVENTS)
      if (steps % 10 === 0) await expectExact(spender)
      since = until
    }
    expect(steps).toBeGreaterThan(5)
    await expectExact(spender)
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
    for (const spender of spenders) await expectExact(spender)
  })
})

/** Reads both in one snapshot: a payment that is made in between is in both or in neither. */
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
    const sums = await readSpend(sqlOn(client), { ownerId, mode: 'test' }, question)
    expect(fastSums(sums, ({ day, value }) => `${day} ${value}`)).toEqual(
      slowSums(lines, line => `${line.day} ${line.merchant}`),
    )
    await client.query('commit')
  } finally {
    client.release()
  }
}
