import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import { newId } from '../../../../src/values/ids.ts'
import { statusCounts, times } from '../../../support/at-once.ts'
import { startTestService } from '../../../support/harness.ts'
import { SAVING_TABLES, savingArea } from '../../../support/saving-noun.ts'
import { until } from '../../../support/until.ts'

let answerCall: () => Promise<string>
let calls = 0
let release = (): void => undefined
const savings = savingArea(() => {
  calls++
  return answerCall()
})
const service = await startTestService({ areas: { ...areas, savings }, tables: SAVING_TABLES })
const owner = await service.owner()

beforeEach(() => {
  calls = 0
  answerCall = async () => 'yes'
})
afterEach(() => release())

async function aSaving(balance = 0): Promise<string> {
  const id = newId('saving')
  await service.sql(`insert into savings values ($1, $2, 'test', $3)`, [id, owner.ownerId, balance])
  return id
}

const save = (id: string, amount = 1, idempotencyKey?: string) =>
  owner.client.savings.save({
    params: { id },
    body: { amount },
    ...(idempotencyKey ? { idempotencyKey } : {}),
  })

const balanceOf = async (id: string) =>
  (await service.sql('select balance::int as balance from savings where id = $1', [id]))[0]?.balance

const eventsOf = async (id: string) =>
  (
    await service.sql(`select event, action, actor_type from events where resource_id = $1 order by id`, [id])
  ).map(({ event, action, actor_type }) => [event, action, actor_type])

/** Holds the calls until there are `count`, then answers all of them: their answers are recorded in one batch. */
function answerTogether(count: number, answer = 'yes'): void {
  const { promise, resolve } = Promise.withResolvers<string>()
  release = () => resolve(answer)
  answerCall = () => {
    if (calls === count) resolve(answer)
    return promise
  }
}

const transactions = async () =>
  Number(
    (
      await service.sql(
        `select count(distinct xmin::text)::int as n from events where event = 'saving.saved'`,
      )
    )[0]?.n,
  )

describe('steps that are taken together', () => {
  test.each(['with keys', 'without'])('record many answers in few transactions, %s', async how => {
    const ids = await times(20, () => aSaving())
    const before = await transactions()
    answerTogether(20)
    const answers = await Promise.all(
      ids.map((id, n) => save(id, 5, how === 'with keys' ? `many-${n}` : undefined)),
    )
    expect(statusCounts(answers)).toEqual({ 200: 20 })
    expect(await Promise.all(ids.map(balanceOf))).toEqual(Array(20).fill(5))
    expect(calls).toBe(20)
    expect((await transactions()) - before).toBeLessThan(10)
  })

  test('see what those before them have done: nothing is lost on one row', async () => {
    const id = await aSaving(100)
    answerTogether(10)
    const answers = await times(10, () => save(id, 2))
    expect(answers.map(({ body }) => body.balance).sort()).toEqual(
      [102, 104, 106, 108, 110, 112, 114, 116, 118, 120].sort(),
    )
    expect(await balanceOf(id)).toBe(120)
  })

  test('batched calls name caller and operation in their events, as unbatched ones do', async () => {
    const id = await aSaving()
    await save(id)
    expect(await eventsOf(id)).toEqual([['saving.saved', 'savings.save', 'key']])
  })

  test('that refuse keep their events, and make no call', async () => {
    const id = newId('saving')
    expect(await save(id)).toMatchObject({ status: 404, code: 'saving_not_found' })
    expect(await eventsOf(id)).toEqual([['saving.missed', 'savings.save', 'key']])
    expect(calls).toBe(0)
  })

  test('answers outside a batched step are recorded unbatched', async () => {
    const id = await aSaving(1)
    answerCall = async () => 'alone'
    expect((await save(id, 2)).body).toEqual({ savingId: id, balance: 3, by: 'itself' })
    expect((await save(id, 2, 'alone')).body).toEqual({ savingId: id, balance: 5, by: 'itself' })
    expect(await eventsOf(id)).toHaveLength(2)
  })
})

describe('the same Idempotency-Key', () => {
  test('a repetition gets the same answer, without another call', async () => {
    const id = await aSaving()
    const [first, again] = [await save(id, 4, 'again'), await save(id, 4, 'again')]
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect([calls, await balanceOf(id)]).toEqual([1, 4])
  })

  test('is refused while its call is under way: 409, and many of it make one call', async () => {
    const id = await aSaving()
    const { promise, resolve } = Promise.withResolvers<string>()
    release = () => resolve('yes')
    answerCall = () => promise
    const answers = times(20, () => save(id, 4, 'at-once'))
    await until('the call', () => calls === 1)
    resolve('yes')
    const counts = statusCounts(await answers)
    expect(Object.keys(counts).every(status => ['200', '409'].includes(status))).toBe(true)
    expect([calls, await balanceOf(id)]).toEqual([1, 4])
  })

  test('of a call that broke is recovered from its reservation once the lease is over', async () => {
    const id = await aSaving()
    answerCall = async () => {
      throw new Error('connection reset')
    }
    expect((await save(id, 4, 'broken')).status).toBe(500)
    expect((await save(id, 4, 'broken')).status).toBe(409)
    await service.sql(
      `update idempotency_keys set created_at = created_at - interval '3 minutes' where key = 'broken'`,
    )
    expect(await save(id, 4, 'broken')).toMatchObject({ status: 503, code: 'call_lost' })
    expect([calls, await balanceOf(id)]).toEqual([1, 0])
  })

  test('that was recovered while the call went on: the late answer changes nothing', async () => {
    const id = await aSaving()
    const { promise, resolve } = Promise.withResolvers<string>()
    release = () => resolve('yes')
    answerCall = () => promise
    const late = save(id, 4, 'late')
    await until('the call', () => calls === 1)
    await service.sql(
      `update idempotency_keys set created_at = created_at - interval '3 minutes' where key = 'late'`,
    )
    expect(await save(id, 4, 'late')).toMatchObject({ status: 503, code: 'call_lost' })
    resolve('yes')
    expect(await late).toMatchObject({ status: 503, code: 'call_lost' })
    expect(await balanceOf(id)).toBe(0)
  })
})
