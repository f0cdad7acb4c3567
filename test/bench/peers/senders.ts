import { node, serve, start } from '../child.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage } from '../stage.ts'
import type { Comparison } from './compare.ts'
import { delivering } from './delivering.ts'
import { outpost } from './outpost.ts'

/** Signed deliveries to one receiver, each with its outcome recorded, of events that a request causes. */
export async function senderComparison(stage: Stage): Promise<Comparison> {
  const receiver = await serve(node('test/bench/receiver.ts'), `${stage.folder}/receiver.log`, {})
  stage.closeLater(receiver.stop)
  const deliverer = await start(
    { command: node('test/bench/deliverer.ts'), log: `${stage.folder}/deliverer.log`, env: stage.env },
    /is running\./,
  )
  stage.closeLater(deliverer.stop)
  await post(
    stage.api,
    '/webhooks',
    { url: `${receiver.url}/late`, events: ['policy.created'] },
    bearer(stage),
  )
  return {
    work: 'event to its webhook',
    connections: usualOrShort([16], [8]),
    ours: delivering({
      url: stage.api.url,
      request: { method: 'POST', path: '/policies', token: stage.token, body: { name: 'sent-{now}' } },
      receiver,
      cpuSeconds: () => stage.api.cpuSeconds() + deliverer.cpuSeconds() + stage.databaseSeconds(),
    }),
    peers: [outpost(receiver)],
  }
}
