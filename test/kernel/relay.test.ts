import { afterEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import type { Database } from '../../src/kernel/database.ts'
import { newId } from '../../src/kernel/ids.ts'
import { announcer, type Deliver, type Due, outboxOf } from '../../src/kernel/outbox.ts'
import { Relay } from '../../src/kernel/relay.ts'
import { listen } from '../../src/platform/listener.ts'
import { temporalStarter } from '../../src/platform/temporal-starter.ts'
import { startEngine } from '../support/engine.ts'
import { times } from '../support/pot-house.ts'
import { runs } from '../support/runs.ts'
import { until } from '../support/until.ts'

const engine = await startEngine(areas)
const { database } = engine.house
const temporal = await runs()

const relays: Relay[] = []
afterEach(async () => {
  await Promise.all(relays.splice(0).map(one => one.stop()))
  await engine.sql('delete from outbox')
})

/** A relay that is stopped after the test. */
function start(
  deliver: Deliver,
  onFailure: (error: unknown) => void = () => undefined,
  of = database,
): Relay {
  const one = new Relay(of, deliver, onFailure)
  relays.push(one)
  return one
}

/** So many rows of work, each for a record of its own unless they are told for which. */
async function queue(count: number, workflowId?: string): Promise<void> {
  await engine.sql(
    `insert into outbox (id, owner_id, mode, process, recurs, workflow_id, input, created_at, due_at)
     select id, 'customer_1', 'test', 'intent', false, coalesce($2, 'intent/' || id), jsonb_build_object('id', id), now(), now()
     from unnest($1::text[]) as id`,
    [Array.from({ length: count }, () => newId('outbox')), workflowId ?? null],
  )
}

interface RowLeft {
  readonly workflow_id: string
  readonly attempts: number
  readonly wait: number
}

const rows = async (): Promise<RowLeft[]> =>
  (
    await engine.sql(
      `select workflow_id, attempts, extract(epoch from due_at - clock_timestamp())::float8 as wait
       from outbox order by due_at`,
    )
  ).rows

const isEmpty = () => until('the outbox is empty', async () => (await rows()).length === 0)

/** What is leased or postponed is due now. */
const letTimePass = () => engine.sql('update outbox set due_at = now()')

/** A delivery that ends when it is told to. */
function held() {
  const release: (() => void)[] = []
  const deliver: Deliver = () => new Promise(resolve => release.push(resolve))
  return { release, deliver }
}

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
    let seen: Due | undefined
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

describe('a notice', () => {
  test('wakes an idle relay', async () => {
    const delivered: string[] = []
    const one = start(async ({ workflowId }) => void delivered.push(workflowId))
    const listener = listen(engine.databaseUrl, 'outbox', one.wake)
    const announce = announcer(database, 'outbox')
    const began = performance.now()
    for (let count = 1; count <= 12; count++) {
      await queue(1)
      announce()
      await until('it is delivered', () => delivered.length === count)
    }
    // The poll alone would have taken a second each time.
    expect(performance.now() - began).toBeLessThan(8_000)
    await listener.stop()
  })

  test('that comes while the relay is looking is not lost', async () => {
    const looks: (() => void)[] = []
    const query = () => new Promise(resolve => looks.push(() => resolve({ rows: [] })))
    const one = start(
      async () => undefined,
      () => undefined,
      { pool: { query } } as unknown as Database,
    )
    const began = performance.now()
    for (let look = 0; look < 8; look++) {
      await until('it looks', () => looks.length === look + 1)
      one.wake()
      looks[look]?.()
    }
    await until('it looks again', () => looks.length === 9)
    expect(performance.now() - began).toBeLessThan(5_000)
    const stopped = one.stop()
    looks[8]?.()
    await stopped
  })

  test('is for all who listen, and one at a time', async () => {
    let notices = 0
    const listener = listen(engine.databaseUrl, 'outbox', () => notices++)
    await until('it listens', () => notices === 1)
    const announce = announcer(database, 'outbox')
    for (let count = 0; count < 100; count++) announce()
    await until('it has heard', () => notices > 1)
    await listener.stop()
    expect(notices).toBeLessThan(10)
  })
})

describe('a database that is away for a moment', () => {
  test('is asked again, and trouble that is over is forgotten', async () => {
    let away = 3
    let looks = 0
    const query = async () => {
      looks++
      if (away-- > 0) throw new Error('away')
      return { rows: [] }
    }
    const told: unknown[] = []
    const one = start(
      async () => undefined,
      error => told.push(error),
      { pool: { query } } as unknown as Database,
    )
    await until('it looks again', () => looks > 3)
    expect(told).toHaveLength(3)
    const before = looks
    one.wake()
    await until('a notice is heard again', () => looks > before)
  })
})

describe('stopping', () => {
  test('finishes what is under way, and takes nothing more', async () => {
    const { release, deliver } = held()
    await queue(1)
    const one = start(deliver)
    await until('it is under way', () => release.length === 1)
    let stopped = false
    const stopping = one.stop().then(() => {
      stopped = true
    })
    await queue(1)
    one.wake()
    expect(await rows()).toHaveLength(2)
    expect(stopped).toBe(false)
    release[0]?.()
    await stopping
    expect(release).toHaveLength(1)
    expect(await rows()).toMatchObject([{ attempts: 0 }])
  })

  test('does not wait for trouble to be over', async () => {
    await queue(40)
    const told: unknown[] = []
    const one = start(
      async () => {
        throw new Error('away')
      },
      error => told.push(error),
    )
    for (let round = 0; round < 5; round++) {
      const before = told.length
      await letTimePass()
      await until('it is tried', () => told.length > before)
    }
    const began = performance.now()
    await one.stop()
    expect(performance.now() - began).toBeLessThan(1_500)
  })
})

describe('Temporal', () => {
  test('has one run, whatever is delivered twice, in whatever order, by a relay that was killed', async () => {
    const deliver = temporalStarter(temporal.client, newId('queue'))
    const workflowId = `intent/${newId('intent')}`
    await queue(3, workflowId)
    // Leased and delivered, and then nothing: as if it had been killed before the mark.
    for (const due of await outboxOf(database).take(2)) await deliver(due)
    await letTimePass()
    start(deliver)
    await isEmpty()
    const run = temporal.of({ workflowId })
    const { runId, historyLength } = await run.handle.describe()
    const { events } = await run.handle.fetchHistory()
    const begun = (events ?? []).filter(event => event.workflowExecutionStartedEventAttributes)
    expect([begun.length, historyLength]).toEqual([1, events?.length])

    await run.handle.terminate()
    await queue(1, workflowId)
    relays[0]?.wake()
    await isEmpty()
    expect(await run.handle.describe()).toMatchObject({ runId, status: { name: 'TERMINATED' } })
  })
})
