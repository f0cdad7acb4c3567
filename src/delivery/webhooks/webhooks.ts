import { area } from '../../kernel/contract/area.ts'
import { deliveryHandlers } from './deliveries.ts'
import { webhookSteps } from './deliveries-api.ts'
import { Delivery, deliveryMachine } from './delivery.ts'
import { webhookProcess } from './process.ts'
import { webhookHandlers } from './subscriptions.ts'
import { Webhook, webhookMachine, webhooksPersonalData } from './webhook.ts'

/** Deliveries that wait for another attempt and whose subscription is active: their runs must exist. */
const RETRIED_DELIVERIES = `
select d.id, d.owner_id, d.mode, null::text as agent_id, d.event || ' to ' || w.id as about
from deliveries d join webhooks w on (w.owner_id, w.mode, w.id) = (d.owner_id, d.mode, d.webhook_id)
where d.status = 'pending' and d.workflow_id is not null and d.attempt_at is not null and w.status = 'active' and w.deleted_at is null`

export const webhooksArea = area(
  'Webhooks',
  'Webhooks: subscriptions, deliveries and dead letters.',
  {
    api: { ...webhookHandlers.api, ...deliveryHandlers.api },
    handlers: { ...webhookHandlers.handlers, ...deliveryHandlers.handlers },
  },
  {
    personal: webhooksPersonalData,
    steps: webhookSteps,
    entities: [Webhook, Delivery],
    machines: [webhookMachine, deliveryMachine],
    waits: [
      {
        process: webhookProcess,
        table: 'deliveries',
        record: 'id',
        agent: 'null',
        open: `status = 'pending'`,
        waits: 'attempt_at is not null',
      },
    ],
    openRecords: [{ process: webhookProcess, select: RETRIED_DELIVERIES }],
  },
)
