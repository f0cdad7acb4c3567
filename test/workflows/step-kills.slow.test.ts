import { expect, test } from '@jest/globals'
import { aTeamAsked, killThroughSteps, STORY, storyOf } from '../support/control/killed-steps.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { startPrograms } from '../support/temporal/who-acts/programs.ts'
import { until } from '../support/until.ts'

/** `STEP_KILLS=200` is a longer form. */
const KILLS = Number(process.env.STEP_KILLS || 50)
/** The server waits for an activity of a killed worker before it asks another one. */
const TEST_MS = 300_000 + KILLS * 30_000
const ORIGIN = 'http://localhost'

const { installation, owner, anotherApi, databaseUrl, sql } = await startPrograms({ PUBLIC_URL: ORIGIN })
const temporal = await runViewer(installation.temporal.address)

const untilRunsWait = async (ids: readonly string[]): Promise<void> => {
  for (const id of ids) {
    const run = temporal.of({ workflowId: `intent/${id}` })
    await run.untilDetails('for approvals')
    const pending = async () => (await run.handle.describe()).raw.pendingActivities ?? []
    await until(`${id} waits`, async () => (await pending()).length === 0)
  }
}

test(
  'reminders and ends of steps are in time and happen once, though API or worker is killed as it writes each',
  async () => {
    const { ownerId, at } = await owner()
    const another = await anotherApi()
    const processes = {
      ...{ databaseUrl, sql, origin: ORIGIN, other: at(another.url), untilRunsWait },
      client: () => at(installation.api.url),
      async kill(which: 'api' | 'worker', between: () => Promise<unknown>) {
        await installation.kill(which)
        await between()
        await installation.startMissing()
      },
    }
    const team = await aTeamAsked(ownerId, processes)
    const { kills, intentIds, lateSeconds } = await killThroughSteps(team, processes, {
      kills: KILLS,
      killed: ['api', 'api', 'worker', 'api'],
    })
    for (const id of intentIds)
      expect(await temporal.of({ workflowId: `intent/${id}` }).untilEnded()).toBe('denied')
    process.stdout.write(
      `${kills} kills, ${intentIds.length} intents, ${lateSeconds.length} instants: at most ${Math.max(...lateSeconds)} s late\n`,
    )
    for (const id of intentIds) expect(await storyOf(sql, id)).toEqual(STORY)
    expect(Math.min(...lateSeconds)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...lateSeconds)).toBeLessThanOrEqual(2)
  },
  TEST_MS,
)
