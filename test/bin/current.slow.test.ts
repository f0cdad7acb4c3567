import { expect, test } from '@jest/globals'
import { startProgram } from '../support/processes/processes.ts'
import { addressOfRun } from '../support/temporal/access.ts'

test('the program that makes a build current says which setting is missing', async () => {
  const TEMPORAL_ADDRESS = addressOfRun()
  const jobs = [startProgram('current', {}), startProgram('current', { TEMPORAL_ADDRESS })]
  const said = jobs.map(async job => [await job.exit, job.output()])
  expect(await Promise.all(said)).toEqual([
    [1, 'Not set: TEMPORAL_ADDRESS.\n'],
    [1, 'Not set: TEMPORAL_DEPLOYMENT.\n'],
  ])
})
