import { describe, expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { expireDeliveries } from '../../../src/delivery/webhooks/dispatch/backlog-keeper.ts'
import { firstIdAt, newId } from '../../../src/values/ids.ts'
import { startEngine } from '../../support/engine.ts'

const engine = await startEngine(areas)

const anOwner = () => ({ ownerId: newId('customer'), mode: 'test' }) as const
type Owner = ReturnType<typeof anOwner>

/** Creates subscriptions, each with a delivery due for this many seconds; returns their ids. */
async function addDueWebhooks({ ownerId, mode }: Owner, count: number, seconds: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('webhook'))
  const [event] = [newId('event')]
  await engine.sql(
    `insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
     values ($1, $2, $3, 'agent.created', '{"agentId":"agent_1"}', 'r', now(), 'key', 'agents.create', 'done', 'agent_1')`,
    [event, ownerId, mode],
  )
  await engine.sql(
    `insert into webhooks (id, owner_id, mode, created_at, updated_at, url, events, status, secret, hint, failures)
     select id, $2, $3, now(), now(), 'https://example.com/', '{*}', 'active', 's', 'h', 0 from unnest($1::text[]) as w(id)`,
    [ids, ownerId, mode],
  )
  await engine.sql(
    `insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
       claims, tries, attempts)
     select 'delivery_' || substr(id, 9), $2, $3, now(), now(), id, $4, 'agent.created', 'pending',
       now() - $5 * interval '1 second', 0, 0, '[]' from unnest($1::text[]) as w(id)`,
    [ids, ownerId, mode, event, seconds],
  )
  return ids
}

const dueWebhooks = async (limit: number): Promise<{ id: string; owner_id: string }[]> =>
  (await engine.sql('select id, owner_id from due_webhooks($1)', [limit])).rows

test('an owner with very many subscriptions delays no other', async () => {
  const [many, few] = [anOwner(), anOwner()]
  await addDueWebhooks(many, 300, 3_600)
  const [oldest, younger] = [...(await addDueWebhooks(few, 1, 60)), ...(await addDueWebhooks(few, 1, 1))]
  const served = await dueWebhooks(256)
  expect(served).toHaveLength(256)
  expect(served.slice(0, 4).map(({ owner_id }) => owner_id)).toEqual([
    many.ownerId,
    few.ownerId,
    many.ownerId,
    few.ownerId,
  ])
  expect([served[1]?.id, served[3]?.id]).toEqual([oldest, younger])
})

describe('a paused receiver', () => {
  const pausedUntil = async (id: string): Promise<Date | null> =>
    (await engine.sql('select paused_until from webhooks where id = $1', [id])).rows[0].paused_until

  test('stays paused when a delivery falls due, and is tried when a person asks for it', async () => {
    const owner = anOwner()
    const [id] = (await addDueWebhooks(owner, 1, 1)) as [string]
    await engine.sql(
      `update webhooks set failures = 5, failing_since = now(), paused_until = now() + interval '1 hour' where id = $1`,
      [id],
    )
    const params = { id: id.replace('webhook', 'delivery') }
    expect(await pausedUntil(id)).not.toBeNull()
    expect((await dueWebhooks(1_000)).map(row => row.id)).not.toContain(id)
    await engine.run(owner, 'webhooks.retry', { params })
    expect(await pausedUntil(id)).toBeNull()
    expect((await dueWebhooks(1_000)).map(row => row.id)).toContain(id)
  })
})

test('deliveries are kept for 30 days, whatever their status', async () => {
  const [id] = (await addDueWebhooks(anOwner(), 1, 1)) as [string]
  const days = 86_400_000
  const addDeliveryOfAge = async (age: number) => {
    const agedId = firstIdAt('delivery', new Date(Date.now() - age))
    await engine.sql(
      `insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, due_at,
         claims, tries, attempts) select $2, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, 'dead', null,
         claims, tries, attempts from deliveries where webhook_id = $1 limit 1`,
      [id, agedId],
    )
    return agedId
  }
  await addDeliveryOfAge(31 * days)
  const youngId = await addDeliveryOfAge(29 * days)
  await expireDeliveries(engine.runtime.database)
  const { rows } = await engine.sql(`select id from deliveries where webhook_id = $1 and status = 'dead'`, [
    id,
  ])
  expect(rows.map(row => row.id)).toEqual([youngId])
})
