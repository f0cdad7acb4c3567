import { expect, test } from '@jest/globals'
import { untilDelivery } from '../../support/delivery/deliveries.ts'
import { respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import { subscriptionsIn } from '../../support/delivery/subscriptions.ts'
import { anAgent } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { inTier } from '../../support/tier.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ deliverers: 2, env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { subscribed } = subscriptionsIn(service, receiver)
const COUNT = inTier(2_000, 10_000)

test(`two processes send ${COUNT} deliveries of one subscription exactly once each`, async () => {
  const { client, ownerId, path, id } = await subscribed(respondWith(204))
  await anAgent(client)
  await untilDelivery(client, id, delivery => delivery.status === 'delivered')
  await service.sql(
    `with e as (
       insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
       select 'event_' || lpad(n::text, 26, '0'), $1, 'test', 'agent.created', '{"agentId":"agent_1"}', 'r', now(), 'key',
         'agents.create', 'done', 'agent_1'
       from generate_series(1, $2::int) n returning *)
     select publish_events((select jsonb_agg(jsonb_build_object('id', 'event_' || lpad(n::text, 26, '0'),
       'ownerId', $1::text, 'mode', 'test', 'event', 'agent.created', 'data', '{}')) from generate_series(1, $2::int) n), array[$1::text])`,
    [ownerId, COUNT],
  )
  await service.sql('notify deliveries')
  const delivered = `select count(*)::int as count from deliveries where webhook_id = $1 and status = 'delivered'`
  await until(
    'all are delivered',
    async () => (await service.sql(delivered, [id]))[0]?.count === COUNT + 1,
    240_000,
  )
  const sent = receiver.at(path).map(({ deliveryId }) => deliveryId)
  expect(sent).toHaveLength(COUNT + 1)
  expect(new Set(sent.map(name => name.replace(/-[^-]+$/, ''))).size).toBe(COUNT + 1)
})
