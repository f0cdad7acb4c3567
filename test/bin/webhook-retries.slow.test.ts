import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import { untilDelivery } from '../support/delivery/deliveries.ts'
import { startReceiver } from '../support/delivery/receiver.ts'
import { anAgent, aWebhook } from '../support/factories.ts'
import { DASHBOARD_SECRET, ENCRYPTION_KEY, http, startTestService } from '../support/harness.ts'
import { startPart } from '../support/processes/processes.ts'
import { addressOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const temporal = await runViewer()

/** Its lease, or the heartbeat of its attempt, is missed before another worker makes it. */
const UNTIL_MISSED_MS = 60_000

test.each([
  ['stopped', 'SIGTERM'],
  ['killed', 'SIGKILL'],
] as const)(
  'an attempt whose worker is %s while it posts is made again by another one, and by no deliverer',
  async (_, signal) => {
    const env = {
      ENCRYPTION_KEY,
      OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
      WEBHOOK_RETRY_SECONDS: '1,3600',
      TEMPORAL_TASK_QUEUE: `retries-${randomUUID()}`,
      METRICS_PORT: '0',
    }
    const start = (name: 'relay' | 'worker') => startPart(name, service.databaseUrl, addressOfRun(), env)
    const [relay, doomed] = await Promise.all([start('relay'), start('worker')])
    const { client } = await service.owner()
    const path = `/${signal}`
    // The second request gets no answer.
    receiver.treat(path, (response, n) => {
      if (n !== 1) response.writeHead(n === 0 ? 500 : 204).end()
    })
    const { id } = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
    await anAgent(client)
    await until('the second is on its way', () => receiver.at(path).length === 2, UNTIL_MISSED_MS)
    const heir = await start('worker')
    doomed.kill(signal)
    await doomed.exit
    await until('it is made again', () => receiver.at(path).length > 2, UNTIL_MISSED_MS)
    const delivery = await untilDelivery(client, id, ({ status }) => status === 'delivered')
    expect(delivery.attempts.map(({ status }) => status)).toEqual([500, 204])
    expect(await temporal.of(delivery).untilEnded()).toBe('delivered')
    const ids = receiver.at(path).map(({ deliveryId }) => deliveryId)
    expect(new Set(ids).size).toBe(3)
    const [, port] = await relay.untilOutput(/Metrics on .* port (\d+)/)
    const headers = { 'x-dashboard-secret': DASHBOARD_SECRET }
    const { text } = await http(`http://127.0.0.1:${port}`, 'GET', '/metrics', { headers })
    expect(text).toContain('rescues_total{operation="webhooks.attempt"} 0')
    for (const part of [relay, heir]) part.kill('SIGTERM')
    expect(await Promise.all([relay.exit, heir.exit])).toEqual([0, 0])
  },
)
