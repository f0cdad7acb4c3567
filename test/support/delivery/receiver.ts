import { afterAll } from '@jest/globals'
import { openReceiver, type Receiver } from './receiver-server.ts'

export { type Behavior, type ReceivedRequest, type Receiver, respondWith } from './receiver-server.ts'

export async function startReceiver(): Promise<Receiver> {
  const receiver = await openReceiver()
  afterAll(() => receiver.close())
  return receiver
}
