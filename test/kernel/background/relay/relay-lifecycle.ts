import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import type { Database } from '../../../../src/kernel/database/prepared-sql.ts'
import { openNotifier, openOutbox } from '../../../../src/kernel/journal/outbox.ts'
import { openListener } from '../../../../src/platform/listener.ts'
import { workflowStarter } from '../../../../src/platform/temporal/starter.ts'
import { newId } from '../../../../src/values/ids.ts'
import { startEngine } from '../../../support/engine.ts'
import { POLL_MS, pendingDeliveries, relaysOn, startedRelays } from '../../../support/relays.ts'
import { runViewer } from '../../../support/temporal/runs.ts'
import { until } from '../../../support/until.ts'

const engine = await startEngine(areas)
const { untilEmpty, makeDue, rows, queue, database, start } = relaysOn(engine)
const temporal = await runViewer()

afterEach(async () => {
  await Promise.all(startedRelays.splice(0).map(relay => relay.stop()))
  await engine.sql('delete from outbox')
})

/** The median ignores delays that a busy machine adds. */
const median = (waits: readonly number[]): number =>
  Number(waits.toSorted((a, b) => a - b)[Math.floor(waits.length / 2)])

describe('a notification', () => {
  test('wakes an idle relay', async () => {
    const delivered: string[] = []
    const relay = start(async ({ workflowId }) => void delivered.push(workflowId))
    const listener = openListener(engine.databaseUrl)
    listener.on('outbox', relay.wake)
    const notify = openNotifier(database, 100)
    const waits: number[] = []
    for (let count = 1; count <= 12; count++) {
      const began = performance.now()
      await queue(1)
      notify(['outbox'])
      await until('it is delivered', () => delivered.length === count)
      waits.push(performance.now() - began)
    }
    expect(median(waits)).toBeLessThan(POLL_MS / 2)
    await listener.stop()
  })

  test('that arrives during a query is not lost', async () => {
    const queries: (() => void)[] = []
    const query = () => new Promise(resolve => queries.push(() => resolve({ rows: [] })))
    const relay = start(
      async () => undefined,
      () => undefined,
      { pool: { query } } as unknown as Database,
    )
    const waits: number[] = []
    await until('it looks', () => queries.length === 1)
    for (let index = 0; index < 8; index++) {
      const began = performance.now()
      relay.wake()
      queries[index]?.()
      await until('it looks again', () => queries.length === index + 2)
      waits.push(performance.now() - began)
    }
    expect(median(waits)).toBeLessThan(POLL_MS / 2)
    const stopped = relay.stop()
    queries[8]?.()
    await stopped
  })

  test('reaches every listener, and many at once are sent as few', async () => {
    let notices = 0
    const listener = openListener(engine.databaseUrl)
    listener.on('outbox', () => notices++)
    await until('it listens', () => notices === 1)
    const notify = openNotifier(database, 100)
    for (let count = 0; count < 100; count++) notify(['outbox'])
    await until('it has heard', () => notices > 1)
    await listener.stop()
    expect(notices).toBeLessThan(10)
  })
})

describe('a notice', () => {
  const notices: string[][] = []
  const query = async ({ values }: { values: [string[]] }) => {
    notices.push(values[0])
    return { rows: [] }
  }
  const stub = { pool: { query } } as unknown as Database
  beforeEach(() => void notices.splice(0))

  test('is sent at once after a rest, for all channels of a commit in one statement', async () => {
    openNotifier(stub, 100)(['outbox', 'journal'])
    expect(notices).toEqual([['outbox', 'journal']])
  })

  test('names the channels of all commits since the one before, and none is missing at the end', async () => {
    const notify = openNotifier(stub, 100)
    notify(['journal'])
    for (const channel of ['deliveries', 'journal', 'pushes'] as const) notify([channel])
    await until('the second is sent', () => notices.length === 2)
    expect(notices).toEqual([['journal'], ['deliveries', 'journal', 'pushes']])
  })

  test('is not sent for a commit without news', async () => {
    openNotifier(stub, 100)([])
    expect(notices).toEqual([])
  })

  test('becomes rarer while commits follow each other quickly, up to the longest pause', async () => {
    const notify = openNotifier(stub, 80)
    const commits = setInterval(() => {
      for (let n = 0; n < 50; n++) notify(['journal'])
    }, 1)
    const began = performance.now()
    await until('it has gone on for a while', () => performance.now() - began > 600)
    clearInterval(commits)
    // Pauses of 20, 40, 80, 80 … ms; a busy machine sends fewer.
    expect(notices.length).toBeLessThanOrEqual(1 + 2 + Math.ceil((performance.now() - began) / 80))
    expect(notices.length).toBeGreaterThan(2)
  })
})

describe('a relay that loses its database for a moment', () => {
  test('queries again, and forgets the failures once one succeeds', async () => {
    let away = 3
    let queries = 0
    const query = async () => {
      queries++
      if (away-- > 0) throw new Error('away')
      return { rows: [] }
    }
    const failures: unknown[] = []
    const relay = start(
      async () => undefined,
      error => failures.push(error),
      { pool: { query } } as unknown as Database,
    )
    await until('it looks again', () => queries > 3)
    expect(failures).toHaveLength(3)
    const before = queries
    relay.wake()
    await until('a notice is heard again', () => queries > before)
  })
})

describe('a relay that is stopped', () => {
  test('finishes the calls under way and claims nothing more', async () => {
    const { release, deliver } = pendingDeliveries()
    await queue(1)
    const relay = start(deliver)
    await until('it is under way', () => release.length === 1)
    let stopped = false
    const stopping = relay.stop().then(() => {
      stopped = true
    })
    await queue(1)
    relay.wake()
    expect(await rows()).toHaveLength(2)
    expect(stopped).toBe(false)
    release[0]?.()
    await stopping
    expect(release).toHaveLength(1)
    expect(await rows()).toMatchObject([{ attempts: 0 }])
  })

  test('releases, untried, the rows that it was just claiming', async () => {
    const queries: (() => void)[] = []
    const query = async (statement: { text: string }) => {
      if (statement.text.includes('skip locked')) await new Promise<void>(resolve => queries.push(resolve))
      return engine.sql(statement)
    }
    const delivered: string[] = []
    const deliver = async ({ workflowId }: { workflowId: string }) => void delivered.push(workflowId)
    const slow = { pool: { query } } as unknown as Database
    const relay = start(deliver, () => undefined, slow)
    await until('it looks', () => queries.length === 1)
    await queue(3, 'intent/one')
    const stopping = relay.stop()
    queries[0]?.()
    await stopping
    expect(delivered).toEqual([])
    expect((await rows()).map(({ attempts, wait }) => [attempts, wait <= 0])).toEqual(
      Array(3).fill([0, true]),
    )
    start(deliver)
    await untilEmpty()
    expect(delivered).toEqual(['intent/one'])
  })

  test('does not wait for retries of failed deliveries', async () => {
    await queue(40)
    const failures: unknown[] = []
    const relay = start(
      async () => {
        throw new Error('away')
      },
      error => failures.push(error),
    )
    for (let round = 0; round < 5; round++) {
      const before = failures.length
      await makeDue()
      await until('it is tried', () => failures.length > before)
    }
    const began = performance.now()
    await relay.stop()
    expect(performance.now() - began).toBeLessThan(1_500)
  })
})

test('the rows that a dead relay had claimed are free at once, those claimed or postponed by others are not', async () => {
  const leases = ['dead', 'living'].map(id => `('${id}', 'outbox', now() + interval '1 hour')`)
  await engine.sql(`insert into process_leases values ${leases.join()}`)
  const { claim, postpone } = openOutbox(database)
  await queue(6)
  const [first, late] = await claim(4, 'dead')
  await claim(2, 'living')
  await postpone(late?.id ?? '')
  await engine.sql(`update process_leases set held_until = now() - interval '1 ms' where id = 'dead'`)
  expect((await engine.sql(`select free_leases('outbox') as count`)).rows).toEqual([{ count: 3 }])
  expect((await rows()).map(({ wait }) => wait <= 0)).toEqual([true, true, true, false, false, false])
  const again = await claim(6, 'living')
  expect([again.length, again.map(({ id }) => id)]).toEqual([3, expect.arrayContaining([first?.id])])
  await engine.sql('delete from process_leases')
})

describe('a workflow', () => {
  test('starts one run, however often and in any order a killed relay’s rows are delivered', async () => {
    const deliver = workflowStarter(temporal.client, newId('queue'), new Map())
    const workflowId = `intent/${newId('intent')}`
    await queue(3, workflowId)
    // Claimed and delivered but not deleted, as by a relay that was killed in between.
    for (const due of await openOutbox(database).claim(2, 'lease')) await deliver(due)
    await makeDue()
    start(deliver)
    await untilEmpty()
    const run = temporal.of({ workflowId })
    const { runId, historyLength } = await run.handle.describe()
    const { events } = await run.handle.fetchHistory()
    const starts = (events ?? []).filter(event => event.workflowExecutionStartedEventAttributes)
    expect([starts.length, historyLength]).toEqual([1, events?.length])

    await run.handle.terminate()
    await queue(1, workflowId)
    startedRelays[0]?.wake()
    await untilEmpty()
    expect(await run.handle.describe()).toMatchObject({ runId, status: { name: 'TERMINATED' } })
  })
})
