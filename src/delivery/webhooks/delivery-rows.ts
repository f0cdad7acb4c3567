import { recordColumns, selectList, type Table, updateOf } from '../../kernel/database/bulk-sql.ts'
import type { Delivery } from './delivery.ts'
import type { Webhook } from './webhook.ts'

const columns = {
  ...recordColumns,
  webhookId: ['webhook_id', 'text'],
  eventId: ['event_id', 'text'],
  event: ['event', 'text'],
  status: ['status', 'text'],
  dueAt: ['due_at', 'timestamptz'],
  aheadMs: ['ahead_ms', 'float8'],
  leasedUntil: ['leased_until', 'timestamptz'],
  leasedBy: ['leased_by', 'text'],
  claims: ['claims', 'int'],
  tries: ['tries', 'int'],
  attempts: ['attempts', 'jsonb'],
  workflowId: ['workflow_id', 'text'],
} as const

/** The columns of a delivery without its entity: thousands a second are claimed and written. */
export type DeliveryRow = Pick<Delivery, keyof typeof columns>

const deliveries: Table<DeliveryRow> = { name: 'deliveries', columns }

export const deliveryColumns = selectList(deliveries, 'd')
export const writeOutcomes = updateOf(deliveries, [
  'status',
  'dueAt',
  'aheadMs',
  'leasedUntil',
  'tries',
  'attempts',
  'workflowId',
  'updatedAt',
])
export const writeReplays = updateOf(deliveries, [
  'status',
  'dueAt',
  'aheadMs',
  'leasedUntil',
  'tries',
  'updatedAt',
])

/** How the receiver of a subscription has answered lately, without the entity. */
export type Health = Pick<Webhook, 'id' | 'failures' | 'failingSince' | 'pausedUntil'>

const health: Table<Health> = {
  name: 'webhooks',
  columns: {
    id: ['id', 'text'],
    failures: ['failures', 'int'],
    failingSince: ['failing_since', 'timestamptz'],
    pausedUntil: ['paused_until', 'timestamptz'],
  },
}

export const healthColumns = selectList(health, 'w')
export const writeHealth = updateOf(health, ['failures', 'failingSince', 'pausedUntil'])
