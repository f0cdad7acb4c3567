import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, describe, expect, test } from '@jest/globals'
import { startMerchant } from '../support/commerce/merchant.ts'
import { startReceiver } from '../support/delivery/receiver.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { type Deed, deedsOn } from '../support/temporal/who-acts/deeds.ts'
import { holdAt } from '../support/temporal/who-acts/hold.ts'
import { type OwnerOfPrograms, startPrograms } from '../support/temporal/who-acts/programs.ts'
import { type Due, type WhoActsStory, whoActsStories } from '../support/temporal/who-acts/stories.ts'
import { type Column, WhoActsTable } from '../support/temporal/who-acts/table.ts'
import { until } from '../support/until.ts'

/** `WHO_ACTS_RUNS=100 WHO_ACTS_AWAY_SECONDS=180` is the long form, which prints its table. */
const { WHO_ACTS_RUNS, WHO_ACTS_AWAY_SECONDS = '0' } = process.env
const RUNS = Number(WHO_ACTS_RUNS ?? 2)
const AWAY_MS = Number(WHO_ACTS_AWAY_SECONDS) * 1_000
const PATIENCE_MS = 180_000 + RUNS * 3_000
const TEST_MS = 4 * PATIENCE_MS + AWAY_MS

const programs = await startPrograms()
const stage = { ...programs, merchant: await startMerchant(), receiver: await startReceiver() }
const { sql, proxy, installation } = programs
const temporal = await runViewer(installation.temporal.address)
const table = new WhoActsTable()
const operations = whoActsStories.flatMap(({ steps }) => steps.map(({ operation }) => operation))

interface Acting {
  readonly story: WhoActsStory
  readonly owner: OwnerOfPrograms
  readonly makeDue: () => Promise<readonly Due[]>
}

interface Acted extends Acting {
  readonly due: readonly Due[]
  readonly since: number
}

/** Records of each story, whose runs wait. */
async function prepared(stories: readonly WhoActsStory[], count: number): Promise<Acting[]> {
  const all: Acting[] = []
  for (const story of stories) {
    const owner = await programs.owner()
    const { waiting, makeDue } = await story.prepare(stage, owner, count)
    await Promise.all(waiting.map(untilItWaits))
    all.push({ story, owner, makeDue })
  }
  return all
}

async function untilItWaits(workflowId: string): Promise<void> {
  const run = temporal.of({ workflowId })
  let seen: unknown
  const isThere = async () => {
    const [status, state] = [await run.status(), await run.state().catch(String)]
    seen = { status, state }
    return status === 'COMPLETED' || (typeof state === 'object' && state.waitsFor)
  }
  await until(`${workflowId} waits or has ended`, isThere, PATIENCE_MS).catch(async (error: Error) => {
    const { events } = await run.handle.fetchHistory()
    const last = (events ?? [])
      .slice(-20)
      .map(({ eventType, workflowTaskFailedEventAttributes: failed }) =>
        failed ? `${eventType} ${failed.cause} ${failed.failure?.message}` : eventType,
      )
    throw new Error(`${error.message}; it shows ${JSON.stringify(seen)} after ${last.join(', ')}`)
  })
}

async function madeDue(all: readonly Acting[]): Promise<Acted[]> {
  const acted: Acted[] = []
  for (const acting of all) {
    const since = Date.now()
    acted.push({ ...acting, since, due: await acting.makeDue() })
  }
  return acted
}

async function untilDone({ story: { done, flow, steps }, due }: Acted): Promise<void> {
  const ids = due.map(({ id }) => id)
  const isDone = async () =>
    new Set((await sql<{ id: string }>(done, [ids])).map(({ id }) => id)).size === ids.length
  await until(`each ${flow} has come to ${steps.at(-1)?.activity}`, isDone, PATIENCE_MS)
}

/** Who has taken the steps, once the histories have it. */
async function deedsOf({ story: { steps, flow }, due, since }: Acted): Promise<Deed[]> {
  const runs = (await Promise.all(due.map(one => one.runs()))).flat()
  await Promise.all(runs.map(untilItWaits))
  const told = () =>
    Promise.all(
      due.map(one => deedsOn({ due: one, steps, of: temporal.of, rescues: programs.rescues(), since })),
    )
  return until(
    `the histories of each ${flow} have its steps`,
    async () => {
      const deeds = (await told()).flat()
      return deeds.every(({ by }) => by !== 'nobody') ? deeds : undefined
    },
    PATIENCE_MS,
  )
}

const EVENTS = `
select event from events
where resource_id = any($1) and recorded_at >= to_timestamp($2 / 1000.0) and event <> 'payment.updated' order by id`

async function expectItsEvents({ story: { events }, due, since }: Acted): Promise<void> {
  for (const one of due) {
    const ids = (await one.runs()).map(run => run.slice(run.indexOf('/') + 1))
    const rows = await sql<{ event: string }>(EVENTS, [ids, since])
    expect(rows.map(({ event }) => event)).toEqual(events)
  }
}

const AHEAD = `select coalesce(max(offset_ms), 0)::float8 as ms from tenant_clocks where owner_id = $1`

/** How far the clock by which its deadlines are kept is ahead. */
async function aheadOf({ story, owner }: Acted): Promise<number> {
  if (story.inRealTime) return 0
  const [ahead] = await sql<{ ms: number }>(AHEAD, [owner.ownerId])
  return Number(ahead?.ms)
}

async function enter(column: Column, acted: Acted, deeds: readonly Deed[], killedAt = 0): Promise<void> {
  table.enter(column, { story: acted.story, deeds, aheadMs: await aheadOf(acted), killedAt })
}

describe('each step of the flows', () => {
  test(
    'is taken by its run while everything is healthy, once',
    async () => {
      // One flow after the other: all of them at once would be a load, not health.
      for (const story of whoActsStories) {
        const [acted] = (await madeDue(await prepared([story], RUNS))) as [Acted]
        await untilDone(acted)
        const deeds = await deedsOf(acted)
        await enter('healthy', acted, deeds)
        for (const { step, by, completed } of deeds)
          expect([step.activity, by, completed]).toEqual([step.activity, 'run', step.times])
        await expectItsEvents(acted)
      }
      expect(programs.rescues()).toEqual([])
      // Each begins at zero, so that its first increase is seen.
      const zeros = operations.map(operation => [operation, 0])
      expect(await programs.rescueCounts()).toMatchObject(Object.fromEntries(zeros))
      expect(Object.values(await programs.rescueCounts()).every(count => count === 0)).toBe(true)
    },
    TEST_MS,
  )

  test(
    'is taken by the sweep while Temporal is away, once',
    async () => {
      const waiting = await prepared(whoActsStories, RUNS)
      await proxy.close()
      const began = performance.now()
      const all = await madeDue(waiting)
      await Promise.all(all.map(untilDone))
      await sleep(Math.max(0, AWAY_MS - (performance.now() - began)))
      await proxy.open()
      for (const acted of all) {
        const deeds = await deedsOf(acted)
        await enter('away', acted, deeds)
        for (const { step, by, rescues } of deeds)
          expect([step.activity, by, rescues]).toEqual([step.activity, 'sweep', step.times])
        await expectItsEvents(acted)
      }
      const counted = Map.groupBy(programs.rescues(), ({ operation }) => operation)
      const counts = [...counted].map(([operation, all]) => [operation, all.length])
      expect(await programs.rescueCounts()).toMatchObject(Object.fromEntries(counts))
    },
    TEST_MS,
  )

  test.each(['first', 'second'] as const)(
    'is taken once, whose worker is killed in the %s step',
    async which => {
      const place = which === 'first' ? 0 : 1
      const stories = whoActsStories.filter(({ steps }) => steps[place])
      const waiting = await prepared(stories, 1)
      const hold = await holdAt(
        programs,
        stories.flatMap(({ steps }) => steps[place] ?? []),
      )
      const all = await madeDue(waiting)
      await hold.untilHeld()
      await installation.kill('worker')
      const killedAt = Date.now()
      await hold.release()
      await installation.startMissing()
      for (const acted of all) {
        await untilDone(acted)
        const deeds = await deedsOf(acted)
        await enter('killed', acted, deeds.slice(place, place + 1), killedAt)
        await expectItsEvents(acted)
      }
    },
    TEST_MS,
  )
})

afterAll(() => {
  if (WHO_ACTS_RUNS) process.stdout.write(`${table.markdown()}\n`)
})
