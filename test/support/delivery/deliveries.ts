import { expect } from '@jest/globals'
import { bodyOf, type TestClient } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { until } from '../until.ts'

type Delivery = Awaited<ReturnType<typeof deliveriesOf>>[number]

export const deliveriesOf = async (client: TestClient, id: string) =>
  (await bodyOf(client.webhooks.deliveries({ params: { id }, query: { limit: 100 } }))).data

export async function untilDelivery(
  client: TestClient,
  id: string,
  isExpected: (candidate: Delivery) => boolean,
): Promise<Delivery> {
  let latest: Delivery | undefined
  await until(`a delivery of ${id}`, async () => {
    ;[latest] = await deliveriesOf(client, id)
    return latest !== undefined && isExpected(latest)
  })
  return latest as Delivery
}

/** Makes a delivery due and notifies the deliverers, even if its receiver is paused. */
export async function makeDue({ sql }: Pick<TestService, 'sql'>, id: string): Promise<void> {
  await sql(
    'update webhooks set paused_until = null where id = (select webhook_id from deliveries where id = $1)',
    [id],
  )
  const due = `update deliveries set due_at = now() - interval '1 second' where id = $1 and due_at is not null returning id`
  expect(await sql(due, [id])).toHaveLength(1)
  await sql('notify deliveries')
}

/** Stores the deliveries of new events as they wait, where no deliverer runs. */
export async function storeDeliveries({ sql }: Pick<TestService, 'sql'>): Promise<void> {
  await sql(
    `insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at, claims,
       tries, attempts)
     select one.id, w.owner_id, w.mode, now(), now(), w.id, one.event_id, one.event, 'pending', now(), 0, 0, '[]'
     from claim_events('test', 100000, '{}') one join webhooks w on w.id = one.webhook_id`,
  )
  await sql(`delete from delivery_ranges where leased_by = 'test'`)
}
