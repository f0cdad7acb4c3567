import { afterAll, describe, expect, test } from '@jest/globals'
import type { Claimed } from '../../../src/delivery/webhooks/dispatch/claim.ts'
import { Deliverer } from '../../../src/delivery/webhooks/dispatch/deliverer.ts'
import { JournalReader } from '../../../src/delivery/webhooks/dispatch/journal-reader.ts'
import { ProcessLease } from '../../../src/kernel/database/process-lease.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import type { Vault } from '../../../src/ports/vault.ts'
import { respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import { subscriptionsIn } from '../../support/delivery/subscriptions.ts'
import { anAgent, aWebhook, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { subscribed } = subscriptionsIn(service, receiver)
const database = openDatabase(service.databaseUrl, 3)
afterAll(() => database.close())

async function claimOne(lease: ProcessLease): Promise<Claimed> {
  const { client } = await subscribed(respondWith(204))
  await anAgent(client)
  const journal = new JournalReader(database)
  const [claimed] = await journal.read(await lease.hold())
  await journal.storeLate(0)
  return claimed as Claimed
}

const leasedUntil = async ({ id }: Claimed) =>
  (await service.sql('select leased_until as "until" from deliveries where id = $1', [id]))[0]?.until

describe('a delivery leased by a process', () => {
  test('stays leased while the process renews its lease, and is freed once it has not for too long', async () => {
    const [doomed, heir] = [
      new ProcessLease(database, 'deliveries'),
      new ProcessLease(database, 'deliveries', 40),
    ]
    const claimed = await claimOne(doomed)
    const rounds = new Set<number>()
    const began = performance.now()
    await until('the heir could have freed it', async () => {
      rounds.add(await heir.round())
      return performance.now() - began > 120
    })
    expect([[...rounds], await leasedUntil(claimed)]).toEqual([[0], expect.any(Date)])
    await service.sql('update process_leases set held_until = now() where id = $1', [claimed.lease])
    await until('it is freed', async () => (await heir.round()) === 1)
    expect(await leasedUntil(claimed)).toBeNull()
    await doomed.round()
    expect(doomed.held).not.toBe(claimed.lease)
    await Promise.all([doomed.end(), heir.end()])
    expect(await service.sql(`select 1 from process_leases where kind = 'deliveries'`)).toEqual([])
  })

  test('stays leased after a halt of its process or of all, until each had time to renew its lease', async () => {
    const halted = new ProcessLease(database, 'deliveries', 40)
    const first = await halted.hold()
    await until('its time has passed', () => halted.held === undefined)
    expect(await halted.round()).toBe(0)
    expect(await halted.hold()).toBe(first)
    const otherLease = `insert into process_leases values ('other', 'deliveries', now())`
    await service.sql(otherLease)
    await until('its time has passed again', () => halted.held === undefined)
    expect(await halted.round()).toBe(0)
    expect(await service.sql(`select 1 from process_leases where id = 'other'`)).toHaveLength(1)
    await service.sql('delete from process_leases')
  })
})

describe('events that a process has read', () => {
  const readAll = async (journal: JournalReader, lease: ProcessLease) => {
    const claimed = []
    while (journal.isReady) claimed.push(...(await journal.read(await lease.hold())))
    return claimed.map(({ id, eventId, webhookId }) => ({ id, eventId, webhookId }))
  }

  test('are read again by another one once it has died, but for those that it has stored', async () => {
    const [doomed, heir] = [
      new ProcessLease(database, 'deliveries'),
      new ProcessLease(database, 'deliveries', 40),
    ]
    const { client, id } = await subscribed(respondWith(204))
    const journal = new JournalReader(database)
    await anAgent(client)
    const stored = await readAll(journal, doomed)
    await journal.storeLate(0)
    await service.sql(
      `update deliveries set status = 'delivered', due_at = null, leased_until = null where webhook_id = $1`,
      [id],
    )
    journal.notice()
    await anAgent(client)
    await anAgent(client)
    const lost = await readAll(journal, doomed)
    expect([stored, lost].map(deliveries => deliveries.map(({ webhookId }) => webhookId))).toEqual([
      [id],
      [id, id],
    ])
    const successor = new JournalReader(database)
    await until('the heir may free them', async () => {
      await heir.round()
      return heir.tellsDead
    })
    expect(await readAll(successor, heir)).toEqual([])
    await service.sql('update process_leases set held_until = now() where id = $1', [doomed.held])
    await until('they are freed', async () => (await heir.round()) > 0)
    successor.notice()
    expect(await readAll(successor, heir)).toEqual(lost)
    await successor.storeLate(0)
    const rows = await service.sql('select event_id as id from deliveries where webhook_id = $1 order by 1', [
      id,
    ])
    expect(rows.map(row => row.id)).toEqual([...stored, ...lost].map(({ eventId }) => eventId).toSorted())
    expect(await service.sql('select id from delivery_ranges')).toEqual([])
    await Promise.all([doomed.end(), heir.end()])
  })

  test('go to the subscriptions that wanted them when they were committed', async () => {
    const lease = new ProcessLease(database, 'deliveries')
    const { client, id } = await subscribed(respondWith(204))
    const params = { id }
    await anAgent(client)
    await bodyOf(client.webhooks.update({ params, body: { events: ['agent.frozen'] } }))
    await anAgent(client)
    await bodyOf(client.webhooks.update({ params, body: { events: ['agent.created'], status: 'disabled' } }))
    await anAgent(client)
    await bodyOf(client.webhooks.update({ params, body: { status: 'active' } }))
    await anAgent(client)
    const { id: late } = await aWebhook(client, { url: `${receiver.url}/late`, events: ['agent.created'] })
    await anAgent(client)
    const journal = new JournalReader(database)
    const claimed = await readAll(journal, lease)
    const events = (await bodyOf(client.events.list({ query: { event: 'agent.created' } }))).data
    const [first, , , fourth, fifth] = events.map(event => event.id).toSorted()
    const received = (of: string) =>
      claimed.filter(({ webhookId }) => webhookId === of).map(({ eventId }) => eventId)
    expect([received(id), received(late)]).toEqual([[first, fourth, fifth], [fifth]])
    await journal.storeLate(0)
    await lease.end()
  })
})

test('a delivery whose lease ends before its turn is not sent, and can be claimed again', async () => {
  await service.sql('delete from deliveries')
  await service.sql(`insert into process_leases values ('lease', 'deliveries', now() + interval '1 hour')`)
  const { client, path, id } = await subscribed(respondWith(204))
  await anAgent(client)
  const leaseChecks: (string | undefined)[] = [undefined]
  const lease = {
    hold: async () => 'lease',
    get held() {
      return leaseChecks.length > 0 ? leaseChecks.pop() : 'lease'
    },
  }
  const outbound = {
    judge: () => undefined,
    isAllowed: () => false,
    send: async ({ url, headers }: { url: string; headers: Record<string, string> }) => {
      const { status } = await fetch(url, { method: 'POST', headers })
      return { kind: 'answered', status, headers: {}, body: new Uint8Array(), latencyMs: 1 } as const
    },
  }
  const deliverer = new Deliverer({
    database,
    lease: lease as unknown as ProcessLease,
    ports: { outbound: outbound as never, vault: { open: () => 'secret' } as unknown as Vault },
    waitsMs: [],
    giveUp: async () => undefined,
    onOutbox: () => undefined,
    onFailure: error => {
      throw error
    },
  })
  await until('it is delivered', async () => {
    const [row] = await service.sql('select status, claims from deliveries where webhook_id = $1', [id])
    return row?.status === 'delivered' && row.claims === 2
  })
  await deliverer.stop()
  expect(receiver.at(path)).toHaveLength(1)
})
