import { afterAll } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { addressOfRun } from './access.ts'

export async function temporalClient(address = addressOfRun()): Promise<Client> {
  const connection = await Connection.connect({ address })
  afterAll(() => connection.close())
  return new Client({ connection })
}
