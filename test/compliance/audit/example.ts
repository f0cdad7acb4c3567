import { afterAll, expect, test } from '@jest/globals'
import { openSealer } from '../../support/compliance/trail.ts'
import { DASHBOARD_SECRET, startTestService } from '../../support/harness.ts'
import { busy } from '../../support/http/in-front.ts'
import { launch } from '../../support/processes/launched.ts'
import { sweepAtOnce } from '../../support/sweep.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

const service = await startTestService({ own: true })
const worker = await openWorkerRuntime(service)
const sealer = await openSealer(service.databaseUrl)
afterAll(() => sealer.close())

test('the example of a day finds the changed byte, and verifies the trail of who was forgotten', async () => {
  const example = launch(process.execPath, ['examples/audit/day.mjs'], {
    URL: await busy(service.url),
    DASHBOARD_SECRET,
  })
  let isOver = false
  const ended = example.exit.finally(() => {
    isOver = true
  })
  // The work of a service's relay.
  while (!isOver) {
    await sealer.seal()
    await sweepAtOnce(worker)
  }
  expect([await ended, example.output()]).toEqual([
    0,
    expect.stringMatching(
      /verifies offline[\s\S]*One byte changed: .*First wrong position: \d+[\s\S]*A person is forgotten in \d+ records/,
    ),
  ])
  expect(example.output()).not.toContain(DASHBOARD_SECRET)
})
