import './relay/relay-moments.ts'
import { afterEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { type OutboxMessage, outboxOf } from '../../../src/kernel/journal/outbox.ts'
import { startEngine } from '../../support/engine.ts'
import { held, relays, relaysOn } from '../../support/relays.ts'
import { times } from '../../support/sample-service.ts'
import { until } from '../../support/until.ts'

const engine = await startEngine(areas)
const { database, letTimePass, isEmpty, start, rows, queue } = relaysOn(engine)

afterEach(async () => {
  await Promise.all(relays.splice(0).map(one => one.stop()))
  await engine.sql('delete from outbox')
})

describe('a relay', () => {
  test('delivers every row once, and forgets it', async () => {
    const delivered: string[] = []
    await queue(100)
    const expected = (await rows()).map(({ workflow_id }) => workflow_id)
    start(async ({ workflowId }) => void delivered.push(workflowId))
    await isEmpty()
    expect(delivered.toSorted()).toEqual(expected.toSorted())
  })

  test('hands over what was written, and nothing else', async () => {
    let seen: OutboxMessage | undefined
    await queue(1, 'intent/intent_1')
    start(async due => {
      seen = due
    })
    await isEmpty()
    expect(seen).toEqual({
      id: expect.stringMatching(/^outbox_/),
      process: 'intent',
      recurs: false,
      workflowId: 'intent/intent_1',
      input: { id: seen?.id },
    })
  })

  test('makes one call of the rows of one workflow', async () => {
    const delivered: string[] = []
    await queue(5, 'intent/one')
    await queue(3, 'intent/two')
    start(async ({ workflowId }) => void delivered.push(workflowId))
    await isEmpty()
    expect(delivered.toSorted()).toEqual(['intent/one', 'intent/two'])
  })

  test('has no more than 32 calls under way, and goes on as soon as one has ended', async () => {
    const { release, deliver } = held()
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
    await isEmpty()
    expect(release).toHaveLength(41)
  })

  test('takes what is due only', async () => {
    const delivered: string[] = []
    await queue(1, 'intent/later')
    await engine.sql(`update outbox set due_at = now() + interval '1 hour'`)
    await queue(1, 'intent/now')
    const one = start(async ({ workflowId }) => void delivered.push(workflowId))
    await until('it is delivered', () => delivered.length > 0)
    one.wake()
    await until('one is left', async () => (await rows()).length === 1)
    expect(delivered).toEqual(['intent/now'])
  })
})

describe('several relays side by side', () => {
  test('deliver each row once between them', async () => {
    const by = new Map<string, number[]>()
    await queue(600)
    await times(4, async index =>
      start(async ({ workflowId }) => {
        by.set(workflowId, [...(by.get(workflowId) ?? []), index])
      }),
    )
    await isEmpty()
    expect(by.size).toBe(600)
    expect([...by.values()].filter(relays => relays.length !== 1)).toEqual([])
    expect(new Set([...by.values()].flat()).size).toBeGreaterThan(1)
  })

  test('leave to one what it is busy with, and take it when its lease is over', async () => {
    const { release, deliver } = held()
    await queue(1)
    start(deliver)
    await until('it is under way', () => release.length === 1)
    const others: string[] = []
    const other = start(async ({ id }) => void others.push(id))
    await queue(1)
    other.wake()
    await until('the other one is at work', () => others.length === 1)
    const [leased] = await rows()
    expect(leased?.wait).toBeGreaterThan(20)
    await letTimePass()
    other.wake()
    await isEmpty()
    expect(others).toHaveLength(2)
    release[0]?.()
  })
})

describe('what cannot be delivered', () => {
  test('is tried again and again', async () => {
    let attempts = 0
    await queue(1)
    start(async () => {
      if (++attempts < 4) throw new Error('away')
    })
    for (let attempt = 1; attempt < 4; attempt++) {
      await until('it is postponed', async () => {
        const [left] = await rows()
        return left?.attempts === attempt && left.wait < 5
      })
      await letTimePass()
    }
    await isEmpty()
    expect(attempts).toBe(4)
  })

  test('waits twice as long each time, up to a minute, and not all of it at the same moment', async () => {
    const { postpone } = outboxOf(database)
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

  test('is told, and holds up nothing else', async () => {
    const delivered: string[] = []
    const told: unknown[] = []
    await queue(1, 'intent/wrong')
    await queue(80)
    start(
      async ({ workflowId }) => {
        if (workflowId === 'intent/wrong') throw new Error('wrong')
        delivered.push(workflowId)
      },
      error => told.push(error),
    )
    await until('the rest is delivered', () => delivered.length === 80)
    await until('one is left', async () => (await rows()).length === 1)
    expect(told.length).toBeGreaterThan(0)
    expect(told[0]).toEqual(new Error('wrong'))
  })

  test('comes through at once when it can be delivered again', async () => {
    const delivered: string[] = []
    let away = true
    await queue(200)
    start(async ({ workflowId }) => {
      if (away) throw new Error('away')
      delivered.push(workflowId)
    })
    await until('some have been tried', async () => (await rows()).some(({ attempts }) => attempts > 0))
    away = false
    await letTimePass()
    await isEmpty()
    expect(new Set(delivered).size).toBe(200)
  })
})
