import { startDelivery, subscribe } from '../delivery.ts'
import { usualOrShort } from '../short.ts'
import type { Stage } from '../stage.ts'
import type { Comparison } from './compare.ts'
import { convoy } from './convoy.ts'
import { delivering } from './delivering.ts'
import { outpost } from './outpost.ts'

/** Signed deliveries to one receiver, each with its outcome recorded, of events that a request causes. */
export async function senderComparison(stage: Stage): Promise<Comparison> {
  const { receiver, deliverer } = await startDelivery(stage)
  await subscribe(stage, `${receiver.url}/late`, 'policy.created')
  return {
    work: 'event to its webhook',
    connections: usualOrShort([16], [8]),
    ours: delivering({
      url: stage.api.url,
      request: { method: 'POST', path: '/policies', token: stage.token, body: { name: 'sent-{now}' } },
      receiver,
      cpuSeconds: () => stage.api.cpuSeconds() + deliverer.cpuSeconds() + stage.databaseSeconds(),
    }),
    peers: [outpost(receiver), convoy(receiver)],
  }
}
