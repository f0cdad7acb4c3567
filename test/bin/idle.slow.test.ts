import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { temporaryFolder } from '../support/processes/folders.ts'
import { ownPostgres } from '../support/processes/own-servers.ts'
import { startService, stopService } from '../support/processes/service-process.ts'
import { recordSql } from '../support/sql-recorder.ts'
import { addressOfRun } from '../support/temporal/access.ts'
import { until } from '../support/until.ts'

const SECONDS = 10

// A PostgreSQL of its own: an open transaction of another test keeps the sealer awake.
const { url } = await ownPostgres()
const recorder = await recordSql(url)

test('all programs of npm start together ask PostgreSQL at most once a second when idle', async () => {
  // A task queue of its own: its worker takes no runs of other tests.
  const temporal = { TEMPORAL_ADDRESS: addressOfRun(), TEMPORAL_TASK_QUEUE: `idle-${randomUUID()}` }
  const env = { PORT: '0', DATABASE_URL: recorder.url, ...temporal }
  const service = await startService(temporaryFolder(), env)
  const counts: number[] = []
  await until('it rests', async () => {
    const before = recorder.count()
    await sleep(SECONDS * 1_000)
    counts.push(recorder.count() - before)
    return (counts.at(-1) ?? 0) <= SECONDS
  })
  // It still asks: what is due is found without a notice, too.
  expect(counts.at(-1)).toBeGreaterThan(0)
  expect(await stopService(service)).toBe(0)
})
