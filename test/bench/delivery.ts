import { node, type Running, type Served, serve, start } from './child.ts'
import { bearer, post, type Stage } from './stage.ts'

interface Delivery {
  readonly receiver: Served
  readonly deliverer: Running
}

/** A receiver, and the process that delivers events to it. */
export async function startDelivery({ folder, env, closeLater }: Stage): Promise<Delivery> {
  const receiver = await serve(node('test/bench/receiver.ts'), `${folder}/receiver.log`, {})
  closeLater(receiver.stop)
  const deliverer = await start(
    { command: node('test/bench/deliverer.ts'), log: `${folder}/deliverer.log`, env },
    /is running\./,
  )
  closeLater(deliverer.stop)
  return { receiver, deliverer }
}

export const subscribe = (stage: Stage, url: string, event: string) =>
  post(stage.api, '/webhooks', { url, events: [event] }, bearer(stage))
