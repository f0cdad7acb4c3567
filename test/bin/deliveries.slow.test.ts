import { expect, test } from '@jest/globals'
import { verifyWebhook } from '../../src/derive/client.ts'
import { newId } from '../../src/values/ids.ts'
import { untilDelivery } from '../support/delivery/deliveries.ts'
import { startReceiver } from '../support/delivery/receiver.ts'
import { anAgent, aWebhook } from '../support/factories.ts'
import { DASHBOARD_SECRET, ENCRYPTION_KEY, http, startTestService } from '../support/harness.ts'
import type { Launched } from '../support/processes/launched.ts'
import { SECRETS, startProgram } from '../support/processes/processes.ts'
import { addressOfRun } from '../support/temporal/access.ts'
import { until } from '../support/until.ts'

const receiver = await startReceiver()
const service = await startTestService({ env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1' } })

async function startRelay(): Promise<Launched> {
  const relay = startProgram('relay', {
    ...SECRETS,
    ENCRYPTION_KEY,
    DATABASE_URL: service.databaseUrl,
    TEMPORAL_ADDRESS: addressOfRun(),
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
    METRICS_PORT: '0',
  })
  await relay.untilOutput(/is running/)
  return relay
}

const BUSY = `
select from pg_stat_activity
where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend' and state <> 'idle'`

/** Kills a relay. PostgreSQL still executes what was sent, and a lease taken then would never be freed. */
async function kill(relay: Launched): Promise<void> {
  relay.kill('SIGKILL')
  await relay.exit
  await until('PostgreSQL has done what was sent', async () => (await service.sql(BUSY)).length === 0)
}

test.each([
  ['at once', false],
  ['before recording it', true],
])(
  'an attempt whose process is killed %s is made again, under a new delivery id, even where PostgreSQL has lost the first',
  async (_, isStored) => {
    const { client } = await service.owner()
    const path = `/${isStored}`
    // The first request gets no answer.
    receiver.treat(path, (response, n) => void (n > 0 && response.writeHead(200).end()))
    const { id, secret } = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
    const doomed = await startRelay()
    await anAgent(client)
    await until('it is on its way', () => receiver.at(path).length === 1)
    if (isStored) await untilDelivery(client, id, candidate => candidate.status === 'delivering')
    await kill(doomed)

    await service.sql(`update process_leases set held_until = now() - interval '1 ms'`)
    const [freed] = await service.sql(`select free_leases('deliveries') as count`)
    expect(freed?.count).toBeGreaterThan(0)
    await service.sql('update deliveries set claims = 0 where webhook_id = $1', [id])
    const heir = await startRelay()
    const lost = await untilDelivery(client, id, candidate => candidate.status === 'delivered')
    const { attempts } = lost
    const sent = receiver.at(path)
    const messages = sent.map(({ headers, body }) => verifyWebhook(headers, body, String(secret)))
    const ids = sent.map(({ deliveryId }) => deliveryId)
    expect(new Set(ids).size).toBe(2)
    for (const candidate of ids) expect(candidate).toMatch(new RegExp(`^${lost.id}-1\\.\\d+$`))
    const named = messages.map(({ id, eventId }) => ({ id, eventId }))
    expect(named).toEqual(Array(2).fill({ id: lost.id, eventId: lost.eventId }))
    expect(sent[1]?.body).toBe(sent[0]?.body)
    expect(attempts).toMatchObject([{ deliveryId: ids[1], status: 200 }])
    const [, port] = await heir.untilOutput(/Metrics on .* port (\d+)/)
    const ask = (path: string, secret: string) =>
      http(`http://127.0.0.1:${port}`, 'GET', path, { headers: { 'x-dashboard-secret': secret } })
    expect((await ask('/metrics', DASHBOARD_SECRET)).text).toContain(
      'outbound_request_seconds_count{what="webhook",outcome="2xx"} 1',
    )
    const statuses = [ask('/metrics', 'a guess'), ask('/health', ''), ask('/customers', DASHBOARD_SECRET)]
    expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([401, 200, 404])
    heir.kill('SIGTERM')
    expect(await heir.exit).toBe(0)
  },
)

test('a backlog whose process is killed while sending it arrives whole, with one delivery for each event', async () => {
  const { client, ownerId } = await service.owner()
  const { id } = await aWebhook(client, { url: `${receiver.url}/backlog`, events: ['agent.created'] })
  const received = () => receiver.at('/backlog').map(({ headers }) => String(headers['x-service-event-id']))
  // The plan's limit is a hundred deliveries at once, so the backlog takes many rounds.
  await service.sql(
    `insert into webhooks (id, owner_id, mode, created_at, updated_at, url, events, status, secret, hint, failures)
     select 'webhook_' || $1 || n, $1, 'test', now(), now(), 'https://example.com/', '{x}', 'active', 's', 'h', 0
     from generate_series(1, 60) n`,
    [ownerId],
  )
  await service.sql(
    `update webhooks set backlog_after = hold_events(owner_id, mode), backlog_since = now() where id = $1`,
    [id],
  )
  const missed = Array.from({ length: 3_000 }, () => newId('event'))
  await service.sql(
    `insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
     select id, $1, 'test', 'agent.created', '{"agentId": "agent_1"}', 'r', now(), 'key', 'agents.create', 'done', 'agent_1'
     from unnest($2::text[]) as id`,
    [ownerId, missed],
  )
  // This many are accepted, and later ones get no answer: however late a kill comes, it is in the middle.
  let enough = 0
  receiver.treat('/backlog', (response, n) => void (n < enough && response.writeHead(204).end()))
  for (enough of [100, 400]) {
    const doomed = await startRelay()
    await until('it is in the middle', () => received().length >= enough)
    await kill(doomed)
    await service.sql(`update process_leases set held_until = now() - interval '1 ms'`)
    await service.sql(`select free_leases('deliveries')`)
  }
  expect(new Set(received()).size).toBeLessThan(missed.length)
  enough = Number.POSITIVE_INFINITY
  const heir = await startRelay()
  await until('all have arrived', () => new Set(received()).size >= missed.length)
  expect([...new Set(received())].toSorted()).toEqual(missed.toSorted())
  const rows = await service.sql('select event_id from deliveries where webhook_id = $1 order by 1', [id])
  expect(rows.map(({ event_id }) => event_id)).toEqual(missed.toSorted())
  // Only deliveries sent but not yet recorded at a kill are repeated: at most 16 in flight and 128 waiting,
  // twice.
  expect(received().length - missed.length).toBeLessThanOrEqual(2 * (16 + 128))
  heir.kill('SIGTERM')
  expect(await heir.exit).toBe(0)
})
