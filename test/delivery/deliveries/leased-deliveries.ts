import { afterAll, describe, expect, test } from '@jest/globals'
import {
  type ClaimedDelivery,
  claimDeliveries,
  type NewDelivery,
} from '../../../src/delivery/webhooks/dispatch/claim.ts'
import { WebhookDeliverer } from '../../../src/delivery/webhooks/dispatch/deliverer.ts'
import { JournalReader, storeWaiting } from '../../../src/delivery/webhooks/dispatch/journal-reader.ts'
import { DueWorkWatch } from '../../../src/kernel/background/watch.ts'
import { sqlOn } from '../../../src/kernel/database/prepared-sql.ts'
import { type ProcessLease, ProcessLeases } from '../../../src/kernel/database/process-lease.ts'
import { openOutbox } from '../../../src/kernel/journal/outbox.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import type { Vault } from '../../../src/ports/vault.ts'
import { storeDeliveries } from '../../support/delivery/deliveries.ts'
import { respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import { subscriptionsIn } from '../../support/delivery/subscriptions.ts'
import { aFundedAgent, anAgent, anIntent, aWebhook, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })
const { subscribed } = subscriptionsIn(service, receiver)
const database = openDatabase(service.databaseUrl, 3)
afterAll(() => database.close())

const nothing = (): void => undefined

async function claimOne(lease: ProcessLease): Promise<ClaimedDelivery> {
  const { client } = await subscribed(respondWith(204))
  await anAgent(client)
  const journal = new JournalReader(database)
  const [claimed] = await journal.read(await lease.hold())
  await journal.storeLate(0)
  return claimed as ClaimedDelivery
}

const leasedUntil = async ({ id }: ClaimedDelivery) =>
  (await service.sql('select leased_until as "until" from deliveries where id = $1', [id]))[0]?.until

/** A watch of another process, which has been steady for long enough to free what is left behind. */
async function watching(): Promise<{ freed: () => number; stop: () => Promise<void> }> {
  let freed = 0
  const watch = new DueWorkWatch({ sql: sqlOn(database.pool), pollMs: 20, leaseMs: 40, onFailure: nothing })
  const stop = watch.add({ dueAt: 'select null::timestamptz', wake: nothing, onFreed: () => freed++ })
  return { freed: () => freed, stop }
}

describe('a delivery leased by a process', () => {
  test('stays leased while the process renews its lease, and is freed once it has not for too long', async () => {
    const living = new ProcessLeases(database, 60_000)
    const claimed = await claimOne(living.of('deliveries'))
    const heir = await watching()
    const began = performance.now()
    await until('the heir could have freed it', () => performance.now() - began > 120)
    expect([heir.freed(), await leasedUntil(claimed)]).toEqual([0, expect.any(Date)])
    await service.sql('update process_leases set held_until = now() where id = $1', [claimed.lease])
    await until('it is freed', () => heir.freed() === 1)
    expect(await leasedUntil(claimed)).toBeNull()
    await living.round()
    expect(living.of('deliveries').held).not.toBe(claimed.lease)
    await Promise.all([living.end(), heir.stop()])
    expect(await service.sql(`select 1 from process_leases where kind = 'deliveries'`)).toEqual([])
  })

  test('stays leased after a halt of its process, which keeps its lease unless it was freed', async () => {
    const leases = new ProcessLeases(database, 40)
    const halted = leases.of('deliveries')
    const first = await halted.hold()
    await until('its time has passed', () => halted.held === undefined)
    expect(await halted.hold()).toBe(first)
    await leases.end()
  })

  test('stays leased after a halt of all, until each had time to renew its lease', async () => {
    await service.sql(`insert into process_leases values ('other', 'deliveries', now())`)
    const slow = new DueWorkWatch({
      sql: sqlOn(database.pool),
      pollMs: 20,
      leaseMs: 3_600_000,
      onFailure: nothing,
    })
    let asked = 0
    const stop = slow.add({ dueAt: 'select clock_timestamp()', wake: () => asked++ })
    await until('it has asked often', () => asked > 5)
    expect(await service.sql(`select 1 from process_leases where id = 'other'`)).toHaveLength(1)
    await stop()
    await service.sql('delete from process_leases')
  })
})

describe('rows that a living process has claimed without learning of it', () => {
  test('are claimed again once their own time is over: deliveries', async () => {
    const leases = new ProcessLeases(database, 60_000)
    const lease = await leases.of('deliveries').hold()
    const { client, id } = await subscribed(respondWith(204))
    await anAgent(client)
    await storeDeliveries(service)
    const claim = () => claimDeliveries(database, [{ queue: { id }, max: 8 }], lease)
    expect((await claim()).map(one => one.claim)).toEqual([1])
    expect(await claim()).toEqual([])
    await service.sql('update deliveries set leased_until = now() where webhook_id = $1', [id])
    expect((await claim()).map(one => one.claim)).toEqual([2])
    await leases.end()
  })

  test('are claimed again once their own time is over: work for Temporal', async () => {
    const leases = new ProcessLeases(database, 60_000)
    const lease = await leases.of('outbox').hold()
    const { client } = await service.owner()
    await anIntent(client, (await aFundedAgent(client)).id, { amountEuros: 60 })
    const claim = async () => (await openOutbox(database).claim(1_000, lease)).map(({ id }) => id).toSorted()
    const lost = await claim()
    expect(lost.length).toBeGreaterThan(0)
    expect(await claim()).toEqual([])
    await service.sql('update outbox set leased_until = now() where id = any($1)', [lost])
    expect(await claim()).toEqual(lost)
    await leases.end()
  })
})

describe('the lease of a process', () => {
  test('is deleted once the process has claimed nothing for some time, and a new one follows the next claim', async () => {
    const leases = new ProcessLeases(database, 60_000, 30)
    const lease = leases.of('pushes')
    let hasClaims = true
    const letGo = lease.keepWhile(() => hasClaims)
    const first = await lease.hold()
    const began = performance.now()
    await until('it was not used for longer than that', () => performance.now() - began > 60)
    await leases.round()
    expect(lease.held).toBe(first)
    hasClaims = false
    await leases.round()
    expect(lease.held).toBeUndefined()
    expect(await service.sql('select 1 from process_leases where id = $1', [first])).toEqual([])
    expect(await lease.hold()).not.toBe(first)
    letGo()
    await leases.end()
  })

  test('is renewed by one statement together with the others of its process', async () => {
    const statements: string[] = []
    const query = (statement: { readonly text: string }) => {
      statements.push(statement.text)
      return database.pool.query(statement)
    }
    const leases = new ProcessLeases({ pool: { query } as unknown as typeof database.pool })
    const kinds = ['deliveries', 'pushes', 'outbox', 'streams', 'calls'] as const
    const held = await Promise.all(kinds.map(kind => leases.of(kind).hold()))
    expect(new Set(held).size).toBe(5)
    statements.splice(0)
    await leases.round()
    expect(statements).toEqual([expect.stringContaining('update process_leases')])
    expect(kinds.map(kind => leases.of(kind).held)).toEqual(held)
    await leases.end()
  })

  test('proves a death only once it is old enough that each living process has renewed its own', async () => {
    const leases = new ProcessLeases(database)
    const lease = leases.of('calls')
    await lease.hold()
    expect([lease.isNew, lease.tellsDead]).toEqual([true, false])
    await lease.grow()
    expect([lease.isNew, lease.tellsDead]).toEqual([false, true])
    await leases.end()
  })
})

describe('events that a process has read', () => {
  const readAll = async (journal: JournalReader, lease: ProcessLease) => {
    const claimed = []
    while (journal.isReady) claimed.push(...(await journal.read(await lease.hold())))
    return claimed.map(({ id, eventId, webhookId }) => ({ id, eventId, webhookId }))
  }

  test('are read again by another one once it has died, but for those that it has stored', async () => {
    const [doomed, heir] = [new ProcessLeases(database, 60_000), new ProcessLeases(database, 60_000)]
    const { client, id } = await subscribed(respondWith(204))
    const journal = new JournalReader(database)
    await anAgent(client)
    const stored = await readAll(journal, doomed.of('deliveries'))
    await journal.storeLate(0)
    await service.sql(
      `update deliveries set status = 'delivered', due_at = null, leased_until = null where webhook_id = $1`,
      [id],
    )
    journal.notice()
    await anAgent(client)
    await anAgent(client)
    const lost = await readAll(journal, doomed.of('deliveries'))
    expect([stored, lost].map(deliveries => deliveries.map(({ webhookId }) => webhookId))).toEqual([
      [id],
      [id, id],
    ])
    const successor = new JournalReader(database)
    expect(await readAll(successor, heir.of('deliveries'))).toEqual([])
    const ended = 'update process_leases set held_until = now() where id = $1'
    await service.sql(ended, [doomed.of('deliveries').held])
    const watch = await watching()
    await until('they are freed', () => watch.freed() === 1)
    successor.notice()
    expect(await readAll(successor, heir.of('deliveries'))).toEqual(lost)
    await successor.storeLate(0)
    const rows = await service.sql('select event_id as id from deliveries where webhook_id = $1 order by 1', [
      id,
    ])
    expect(rows.map(row => row.id)).toEqual([...stored, ...lost].map(({ eventId }) => eventId).toSorted())
    expect(await service.sql('select id from delivery_ranges')).toEqual([])
    await Promise.all([doomed.end(), heir.end(), watch.stop()])
  })

  test('are read again where PostgreSQL has lost their deliveries after it confirmed them, and no others', async () => {
    const leases = new ProcessLeases(database, 60_000)
    const lease = leases.of('deliveries')
    const { client, id } = await subscribed(respondWith(204))
    const journal = new JournalReader(database)
    for (const removes of ['with the next read', 'by itself']) {
      await anAgent(client)
      await anAgent(client)
      journal.notice()
      const [kept, lost] = await journal.read(await lease.hold())
      await storeWaiting(sqlOn(database.pool), [kept, lost] as NewDelivery[], { claims: 1, leased: false })
      journal.stored([kept, lost] as NewDelivery[])
      await service.sql('delete from deliveries where id = $1', [lost?.id])
      await service.sql(
        `update deliveries set status = 'delivered', due_at = null, leased_until = null where id = $1`,
        [kept?.id],
      )
      if (removes === 'by itself') await journal.storeLate(0)
      else journal.notice()
      expect(journal.isReady).toBe(true)
      expect((await readAll(journal, lease)).map(one => one.id)).toEqual([lost?.id])
      await journal.storeLate(0)
      expect(await service.sql('select id from delivery_ranges')).toEqual([])
      await service.sql(
        `update deliveries set status = 'delivered', due_at = null, leased_until = null where id = $1`,
        [lost?.id],
      )
    }
    expect(await service.sql('select from deliveries where webhook_id = $1', [id])).toHaveLength(4)
    await leases.end()
  })

  test('go to the subscriptions that wanted them when they were committed', async () => {
    const leases = new ProcessLeases(database)
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
    const claimed = await readAll(journal, leases.of('deliveries'))
    const events = (await bodyOf(client.events.list({ query: { event: 'agent.created' } }))).data
    const [first, , , fourth, fifth] = events.map(event => event.id).toSorted()
    const received = (of: string) =>
      claimed.filter(({ webhookId }) => webhookId === of).map(({ eventId }) => eventId)
    expect([received(id), received(late)]).toEqual([[first, fourth, fifth], [fifth]])
    await journal.storeLate(0)
    await leases.end()
  })
})

test('a delivery whose lease ends before its turn is not sent, can be claimed again, and is measured once', async () => {
  await service.sql('delete from deliveries')
  await service.sql(`insert into process_leases values ('lease', 'deliveries', now() + interval '1 hour')`)
  const { client, path, id } = await subscribed(respondWith(204))
  await anAgent(client)
  const ages: number[] = []
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
  const deliverer = new WebhookDeliverer({
    database,
    lease: lease as unknown as ProcessLease,
    systems: {
      outbound: outbound as never,
      tracing: null,
      vault: { open: () => 'secret' } as unknown as Vault,
    },
    waitsMs: [],
    giveUp: async () => undefined,
    onOutbox: nothing,
    onWaiting: nothing,
    onFirstAttempt: milliseconds => ages.push(milliseconds),
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
  const [event] = await service.sql(
    `select floor(extract(epoch from clock_timestamp() - recorded_at) * 1000)::int as age from events
     where event = 'agent.created' order by id desc limit 1`,
  )
  expect(ages).toHaveLength(1)
  expect(ages[0]).toBeLessThanOrEqual(event?.age)
})
