import { selectList, updateOfAnyTenant } from '../../kernel/database/bulk-sql.ts'
import { type RowOf, tableOf } from '../../kernel/database/hot-table.ts'
import { Delivery } from './delivery.ts'
import { Webhook } from './webhook.ts'

/** A delivery without its entity: thousands a second are claimed and written. */
export type DeliveryRow = RowOf<Delivery>

const deliveries = tableOf(Delivery)

export const deliveryColumns = selectList(deliveries, 'd')
export const writeOutcomes = updateOfAnyTenant(deliveries, [
  'status',
  'dueAt',
  'aheadMs',
  'leasedUntil',
  'tries',
  'attempts',
  'workflowId',
  'updatedAt',
])
export const writeReplays = updateOfAnyTenant(deliveries, [
  'status',
  'dueAt',
  'aheadMs',
  'leasedUntil',
  'tries',
  'updatedAt',
])

/** How the receiver of a subscription has answered lately, without the entity. */
export type Health = Pick<Webhook, 'id' | 'failures' | 'failingSince' | 'pausedUntil'>

const webhooks = tableOf(Webhook)

export const healthColumns = selectList(webhooks, 'w', ['id', 'failures', 'failingSince', 'pausedUntil'])
export const writeHealth = updateOfAnyTenant(webhooks, ['failures', 'failingSince', 'pausedUntil'])
