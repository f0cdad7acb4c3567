import { randomUUID } from 'node:crypto'
import { afterAll } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import type { TemporalAccess } from '../../../src/app/temporal-access.ts'

export const addressOfRun = (): string => {
  const { TEST_TEMPORAL_ADDRESS } = process.env
  if (!TEST_TEMPORAL_ADDRESS) throw new Error('the run has no Temporal server')
  return TEST_TEMPORAL_ADDRESS
}

/** A server, by itself that of the run, on a task queue that nobody else works on. */
export const temporalOfRun = (address = addressOfRun()): TemporalAccess => ({
  namespace: 'default',
  taskQueue: `test-${randomUUID()}`,
  client: { address },
  worker: { address },
})

/** Speaks to the server as an operator would. */
export async function temporalClient(address = addressOfRun()): Promise<Client> {
  const connection = await Connection.connect({ address })
  afterAll(() => connection.close())
  return new Client({ connection })
}
