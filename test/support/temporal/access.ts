import { randomUUID } from 'node:crypto'
import type { TemporalAccess } from '../../../src/app/temporal-access.ts'

export const addressOfRun = (): string => {
  const { TEST_TEMPORAL_ADDRESS } = process.env
  if (!TEST_TEMPORAL_ADDRESS) throw new Error('the run has no Temporal server')
  return TEST_TEMPORAL_ADDRESS
}

/** Access to a server, by default that of the test run, with its own task queue. */
export const temporalOfRun = (address = addressOfRun()): TemporalAccess => ({
  namespace: 'default',
  taskQueue: `test-${randomUUID()}`,
  client: { address },
  worker: { address },
})
