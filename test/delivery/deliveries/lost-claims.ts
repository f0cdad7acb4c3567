import type { ServerResponse } from 'node:http'
import { afterAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { respondWith, startReceiver } from '../../support/delivery/receiver.ts'
import { subscriptionsIn } from '../../support/delivery/subscriptions.ts'
import { anAgent } from '../../support/factories.ts'
import { type FlakyProxy, flakyProxy } from '../../support/flaky-proxy.ts'
import { startTestService } from '../../support/harness.ts'
import { inTier } from '../../support/tier.ts'
import { until } from '../../support/until.ts'

let proxy: FlakyProxy | undefined
const receiver = await startReceiver()
const service = await startTestService({
  deliverers: 1,
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' },
  through: async url => {
    proxy = await flakyProxy(url)
    return proxy.url
  },
})
const { subscribed } = subscriptionsIn(service, receiver)
const locker = new pg.Client({ connectionString: service.databaseUrl })
await locker.connect()
afterAll(() => locker.end())

const ROUNDS = inTier(2, 42)

/** The claim that waits for a lock of the test: its process, and the port by which the server knows its client. */
const WAITING = `
select pid, client_port as port from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and query like '%claim_events%'`

const EVENTS = 40
const CLAIMED = 'select from deliveries where webhook_id = $1 and leased_until > now()'
/** A listener is idle once it has asked for notices. */
const LISTENS = `select from pg_stat_activity where datname = current_database() and state = 'idle' and query like 'listen %'`

const overdueSeconds = async () =>
  (await service.sql<{ seconds: number | null }>('select overdue_seconds() as seconds'))[0]?.seconds

/** Claims events whose rows never arrive: the claim is committed, and then its connection ends. */
async function loseClaim(cause: () => Promise<unknown>): Promise<void> {
  await locker.query('begin')
  await locker.query('select from delivery_position for update')
  await cause()
  const { pid, port } = await until('the claim waits', async () => (await service.sql(WAITING))[0])
  proxy?.silence(Number(port))
  await locker.query('commit')
  await until('the claim is committed', async () => (await service.sql('select from delivery_ranges')).length)
  expect(await overdueSeconds()).toBeGreaterThan(0)
  await service.sql('select pg_terminate_backend($1)', [pid])
}

test(`webhooks come although ${ROUNDS} claims of their events are committed and the rows never arrive`, async () => {
  const { client, path } = await subscribed(respondWith(204))
  const timesReceived = (id: string) => receiver.at(path).filter(({ body }) => body.includes(id)).length
  const received: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    let lost = ''
    await loseClaim(async () => {
      lost = (await anAgent(client)).id
    })
    // The process keeps its lease, since it goes on with other events.
    await until('its webhook comes', async () => {
      await anAgent(client).catch(() => undefined)
      return timesReceived(lost) > 0
    })
    received.push(timesReceived(lost))
  }
  await until('no event waits', async () => (await overdueSeconds()) === null)
  expect(await service.sql('select from delivery_ranges')).toEqual([])
  expect(received).toEqual(Array(ROUNDS).fill(1))
})

test('a subscription that was changed while no notice came through gets nothing more at its old address', async () => {
  const held: ServerResponse[] = []
  const { client, path, id } = await subscribed(response => void held.push(response))
  const [old, next] = [path, `${path}/next`]
  await Promise.all(Array.from({ length: EVENTS }, () => anAgent(client)))
  await until('all are claimed', async () => (await service.sql(CLAIMED, [id])).length === EVENTS)
  await proxy?.close()
  await service.sql('update webhooks set url = $1 where id = $2', [receiver.url + next, id])
  await proxy?.open()
  await until('the deliverer listens again', async () => (await service.sql(LISTENS)).length > 0)
  receiver.treat(old, respondWith(204))
  for (const response of held) response.writeHead(204).end()
  await until('all have come', () => receiver.at(old).length + receiver.at(next).length >= EVENTS)
  expect(receiver.at(old)).toHaveLength(held.length)
})
