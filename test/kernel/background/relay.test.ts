import './relay/relay-lifecycle.ts'
import { afterEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { type OutboxMessage, openOutbox } from '../../../src/kernel/journal/outbox.ts'
import { times } from '../../support/at-once.ts'
import { startEngine } from '../../support/engine.ts'
import { pendingDeliveries, relaysOn, startedRelays } from '../../support/relays.ts'
import { until } from '../../support/until.ts'

const engine = await startEngine(areas)
const { database, makeDue, untilEmpty, start, rows, queue } = relaysOn(engine)

afterEach(async () => {
  await Promise.all(startedRelays.splice(0).map(relay => relay.stop()))
  await engine.sql('delete from outbox')
})

describe('a relay', () => {
  test('delivers every row once and deletes it', async () => {
    const delivered: string[] = []
    await queue(100)
    const expected = (await rows()).map(({ workflow_id }) => workflow_id)
    start(async ({ workflowId }) => void delivered.push(workflowId))
    await untilEmpty()
    expect(delivered.toSorted()).toEqual(expected.toSorted())
  })

  test('delivers exactly what was written to the outbox', async () => {
    let message: OutboxMessage | undefined
    await queue(1, 'intent/intent_1')
    start(async due => {
      message = due
    })
    await untilEmpty()
    expect(message).toEqual({
      id: expect.stringMatching(/^outbox_/),
      process: 'intent',
      recurs: false,
      workflowId: 'intent/intent_1',
      input: { id: message?.id },
    })
  })

  test('makes one call for all rows of one workflow', async () => {
    const delivered: string[] = []
    await queue(5, 'intent/one')
    await queue(3, 'intent/two')
    start(async ({ workflowId }) => void delivered.push(workflowId))
    await untilEmpty()
    expect(delivered.toSorted()).toEqual(['intent/one', 'intent/two'])
  })

  test('begins a run anew where one of the rows of its workflow asks for that', async () => {
    const delivered: boolean[] = []
    await queue(3, 'transfer/one')
    await engine.sql(`update outbox set recurs = true where id = (select max(id) from outbox)`)
    start(async ({ recurs }) => void delivered.push(recurs))
    await untilEmpty()
    expect(delivered).toEqual([true])
  })

  test('has at most 32 calls under way, and begins the next as soon as one ends', async () => {
    const { release, deliver } = pendingDeliveries()
    await queue(40)
    start(deliver)
    await until('the first are under way', () => release.length === 32)
    await queue(1)
    release[0]?.()
    await until('one more is', () => release.length === 33)
    for (let next = 1; next < 41; next++) {
      await until('it is under way', () => release.length > next)
      expect(release.length).toBeLessThanOrEqual(32 + next)
      release[next]?.()
    }
    await untilEmpty()
    expect(release).toHaveLength(41)
  })

  test('claims only what is due', async () => {
    const delivered: string[] = []
    await queue(1, 'intent/later')
    await engine.sql(`update outbox set due_at = now() + interval '1 hour'`)
    await queue(1, 'intent/now')
    const relay = start(async ({ workflowId }) => void delivered.push(workflowId))
    await until('it is delivered', () => delivered.length > 0)
    relay.wake()
    await until('one is left', async () => (await rows()).length === 1)
    expect(delivered).toEqual(['intent/now'])
  })
})

describe('several relays', () => {
  test('deliver each row once between them', async () => {
    const by = new Map<string, number[]>()
    await queue(600)
    await times(4, async index =>
      start(async ({ workflowId }) => {
        by.set(workflowId, [...(by.get(workflowId) ?? []), index])
      }),
    )
    await untilEmpty()
    expect(by.size).toBe(600)
    expect([...by.values()].filter(relays => relays.length !== 1)).toEqual([])
    expect(new Set([...by.values()].flat()).size).toBeGreaterThan(1)
  })

  test('leave a leased row to its relay until the lease ends', async () => {
    const { release, deliver } = pendingDeliveries()
    await queue(1)
    start(deliver)
    await until('it is under way', () => release.length === 1)
    const deliveredByOther: string[] = []
    const other = start(async ({ id }) => void deliveredByOther.push(id))
    await queue(1)
    other.wake()
    await until('the other one is at work', () => deliveredByOther.length === 1)
    const [leased] = await rows()
    expect(leased?.wait).toBeGreaterThan(20)
    await makeDue()
    other.wake()
    await untilEmpty()
    expect(deliveredByOther).toHaveLength(2)
    release[0]?.()
  })
})

describe('a delivery that fails', () => {
  test('is tried again until it succeeds', async () => {
    let attempts = 0
    await queue(1)
    start(async () => {
      if (++attempts < 4) throw new Error('away')
    })
    for (let attempt = 1; attempt < 4; attempt++) {
      await until('it is postponed', async () => {
        const [row] = await rows()
        return row?.attempts === attempt && row.wait < 5
      })
      await makeDue()
    }
    await untilEmpty()
    expect(attempts).toBe(4)
  })

  test('waits twice as long each time, up to a minute, with jitter', async () => {
    const { postpone } = openOutbox(database)
    await queue(50)
    const ids = (await engine.sql('select id from outbox')).rows.map(({ id }) => id)
    for (const [attempts, longest] of [
      [1, 0.5],
      [2, 1],
      [5, 8],
      [8, 60],
      [1_000, 60],
    ] as const) {
      await engine.sql('update outbox set attempts = $1', [attempts])
      await Promise.all(ids.map(postpone))
      const waits = (await rows()).map(({ wait }) => wait)
      expect(Math.max(...waits)).toBeLessThanOrEqual(longest)
      expect(Math.min(...waits)).toBeGreaterThan(longest / 2 - 0.5)
      expect(new Set(waits.map(wait => wait.toFixed(4))).size).toBeGreaterThan(10)
    }
  })

  test('is reported, and delays no other', async () => {
    const delivered: string[] = []
    const failures: unknown[] = []
    await queue(1, 'intent/wrong')
    await queue(80)
    start(
      async ({ workflowId }) => {
        if (workflowId === 'intent/wrong') throw new Error('wrong')
        delivered.push(workflowId)
      },
      error => failures.push(error),
    )
    await until('the rest is delivered', () => delivered.length === 80)
    await until('one is left', async () => (await rows()).length === 1)
    expect(failures.length).toBeGreaterThan(0)
    expect(failures[0]).toEqual(new Error('wrong'))
  })

  test('succeeds at once when its target is back', async () => {
    const delivered: string[] = []
    let away = true
    await queue(200)
    start(async ({ workflowId }) => {
      if (away) throw new Error('away')
      delivered.push(workflowId)
    })
    await until('some have been tried', async () => (await rows()).some(({ attempts }) => attempts > 0))
    away = false
    await makeDue()
    await untilEmpty()
    expect(new Set(delivered).size).toBe(200)
  })
})
