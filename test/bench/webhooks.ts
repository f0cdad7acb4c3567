import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import type { Sql } from '../../src/kernel/contract/sql.ts'
import { sqlOn } from '../../src/kernel/database/prepared-sql.ts'
import { emptyJournal, type JournalRow, writeJournal } from '../../src/kernel/journal/journal.ts'
import { printLine } from '../../src/platform/output.ts'
import { newId } from '../../src/values/ids.ts'
import { until } from '../support/until.ts'
import { answerOf, type Served } from './child.ts'
import { startDelivery, subscribe } from './delivery.ts'
import type { Posts } from './posts.ts'
import type { ReceivedCounts } from './receiver.ts'
import { ratio, type Section, wholeNumber } from './report.ts'
import { bearer, post, type Stage, withClient } from './stage.ts'

const COUNT = 30_000
const CONNECTIONS = 16
const ROUNDS = 4
const IDLE = 200
const UNDELIVERABLE = 100_000
const PATIENCE_MS = 180_000

/** Measures how fast events reach a receiver, and the same requests without a service. */
export async function measureWebhooks(stage: Stage): Promise<Section> {
  const { receiver, deliverer } = await startDelivery(stage)
  const { id: webhookId } = await subscribe(stage, `${receiver.url}/`, 'agent.frozen')
  const deliver = (count: number) => deliveryRate(stage, receiver, { webhookId: String(webhookId), count })
  await deliver(1_000)
  const rounds = []
  for (let round = 0; round < ROUNDS; round++) {
    const raw = await rawRate(stage, receiver)
    const before = deliverer.cpuSeconds()
    const databaseBefore = stage.databaseSeconds()
    const ours = await deliver(COUNT)
    const each = (seconds: number) => (seconds * 1e6) / COUNT
    const cpuMicroseconds = each(deliverer.cpuSeconds() - before)
    const databaseMicroseconds = each(stage.databaseSeconds() - databaseBefore)
    rounds.push({ raw, ours, cpuMicroseconds, databaseMicroseconds })
    printLine(`  raw ${wholeNumber(raw)}, delivered ${wholeNumber(rounds.at(-1)?.ours ?? 0)}`)
  }
  const idle = await measureIdle(stage, receiver)
  const deliveriesPerSecond = Math.max(...rounds.map(({ ours }) => ours))
  const raw = Math.max(...rounds.map(round => round.raw))
  const cpu = Math.min(...rounds.map(round => round.cpuMicroseconds))
  const database = Math.min(...rounds.map(round => round.databaseMicroseconds))
  const beside = await rateBesideDeadReceiver(stage, () => deliver(COUNT))
  await deliverer.stop()
  const fanOut = await measureFanOut(stage)
  const figures = {
    raw,
    delivered: deliveriesPerSecond,
    cpuMicroseconds: cpu,
    databaseMicroseconds: database,
    besideTheDead: beside,
    idle,
    fanOut,
  }
  return {
    figures: { webhooks: figures },
    text: [
      `webhooks ${wholeNumber(deliveriesPerSecond)}/s, ${wholeNumber(cpu)} µs of the processor each and ${wholeNumber(database)} of PostgreSQL’s; raw POSTs ${wholeNumber(raw)}/s: ${ratio(deliveriesPerSecond, raw)}`,
      `beside a receiver that is dead, with ${wholeNumber(UNDELIVERABLE)} waiting for it, ${wholeNumber(beside)}/s: ${ratio(beside, deliveriesPerSecond)}`,
      `on an idle system from the event to its receipt p50/p99 ${idle.p50}/${idle.p99} ms`,
      `events/s with so many subscriptions: ${fanOut.map(({ subscriptions, perSecond }) => `${subscriptions}: ${wholeNumber(perSecond)}`).join(', ')}`,
    ].join('\n'),
  }
}

const DATA = { agentId: 'agent_01jd8x2m4ye7k9v0c3q5r6t8wz', status: 'frozen', reason: 'Unusual spending' }

const eventsOf = ({ ownerId }: Stage, event: string, count: number): JournalRow[] =>
  Array.from({ length: count }, () => ({
    id: newId('event'),
    ownerId,
    mode: 'test',
    agentId: DATA.agentId,
    event,
    data: DATA,
    requestId: 'bench',
    runId: null,
    createdAt: new Date(),
    actorType: 'key',
    actorId: null,
    action: 'bench.publish',
    outcome: 'done',
    resourceId: 'bench',
    address: null,
    sameRequest: false,
    sameAgent: false,
    sameResource: false,
    recordedAt: new Date(),
  }))

const sqlOf = (client: pg.Client): Sql => sqlOn(client as unknown as pg.PoolClient)

/** Writes this many events without a notification; returns the first and the last id. */
async function publish(stage: Stage, event: string, count: number): Promise<readonly [string, string]> {
  const events = eventsOf(stage, event, count)
  await withClient(stage, async client => {
    await client.query('begin')
    for (let n = 0; n < count; n += 1_000)
      await writeJournal(sqlOf(client), { ...emptyJournal(), events: events.slice(n, n + 1_000) })
    await client.query('commit')
  })
  const ids = events.map(({ id }) => id).toSorted()
  return [ids.at(0) ?? '', ids.at(-1) ?? '']
}

const readReceiver = async ({ url }: Served): Promise<ReceivedCounts> =>
  (await fetch(url)).json() as Promise<ReceivedCounts>

/** Whether the journal has been read up to the last event, and each event has a delivery that has ended. */
const ARE_DELIVERED = `
select case when is_read(e.written_in, e.id, p.position)
    and not exists (select from deliveries where webhook_id = $2 and status = 'pending')
  then (select count(*) from deliveries where webhook_id = $2 and id >= 'delivery_' || substr($3, 7, 10)) >= $4
  else false end as done
from events e, delivery_position p where (e.owner_id, e.mode, e.id) = ($5, 'test', $1)`

interface Deliveries {
  readonly webhookId: string
  readonly count: number
}

/** Deliveries per second, from the notification to the last recorded delivery. */
async function deliveryRate(
  stage: Stage,
  receiver: Served,
  { webhookId, count }: Deliveries,
): Promise<number> {
  await readReceiver(receiver)
  const [first, last] = await publish(stage, 'agent.frozen', count)
  return withClient(stage, async client => {
    const began = performance.now()
    await client.query('notify deliveries')
    const isDone = async () =>
      (await client.query(ARE_DELIVERED, [last, webhookId, first, count, stage.ownerId])).rows[0].done
    await until('all are delivered', isDone, PATIENCE_MS)
    const seconds = (performance.now() - began) / 1_000
    const { count: received } = await readReceiver(receiver)
    if (received !== count) throw new Error(`${received} were received, not ${count}`)
    return count / seconds
  })
}

function rawRate(stage: Stage, receiver: Served): Promise<number> {
  const [event] = eventsOf(stage, 'agent.frozen', 1)
  const body = JSON.stringify({ event: event?.event, createdAt: event?.createdAt, data: DATA })
  const posts: Posts = { url: `${receiver.url}/`, body, count: COUNT, connections: CONNECTIONS }
  return answerOf<number>('test/bench/posts.ts', posts)
}

async function measureIdle(stage: Stage, receiver: Served) {
  await subscribe(stage, `${receiver.url}/late`, 'policy.created')
  await readReceiver(receiver)
  for (let n = 0; n < IDLE; n++) {
    await post(stage.api, '/policies', { name: `Policy ${n}` }, bearer(stage))
    await sleep(20)
  }
  await sleep(500)
  const latencies = (await readReceiver(receiver)).latencies.toSorted((a, b) => a - b)
  const at = (part: number) => latencies[Math.floor(latencies.length * part)] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99) }
}

/** Measures deliveries with a backlog for another receiver that refuses connections. */
async function rateBesideDeadReceiver(stage: Stage, deliver: () => Promise<number>): Promise<number> {
  await subscribe(stage, 'http://127.0.0.1:59999/', 'agent.unfrozen')
  await publish(stage, 'agent.unfrozen', UNDELIVERABLE)
  await withClient(stage, client => client.query('notify deliveries'))
  const rates = []
  for (let round = 0; round < ROUNDS; round++) rates.push(await deliver())
  return Math.max(...rates)
}

const BATCH = 64
const SECONDS = 2

/** Measures the publication of events in batches, as hot paths write them, without deliveries. */
async function measureFanOut(stage: Stage) {
  const results = []
  for (const subscriptions of [0, 1, 10, 100])
    results.push({
      subscriptions,
      perSecond: await eventRate(stage, `bench.of_${subscriptions}`, subscriptions),
    })
  return results
}

const SUBSCRIBE = `
insert into webhooks (id, owner_id, mode, created_at, updated_at, url, events, status, secret, hint, failures)
select 'webhook_' || $2 || n, $1, 'test', now(), now(), 'http://127.0.0.1:59999/', array[$2], 'active', '', '', 0
from generate_series(1, $3::int) n`

async function eventRate(stage: Stage, event: string, subscriptions: number): Promise<number> {
  return withClient(stage, async client => {
    await client.query(SUBSCRIBE, [stage.ownerId, event, subscriptions])
    const began = performance.now()
    let count = 0
    while (performance.now() - began < SECONDS * 1_000) {
      await writeJournal(sqlOf(client), { ...emptyJournal(), events: eventsOf(stage, event, BATCH) })
      count += BATCH
    }
    return (count * 1_000) / (performance.now() - began)
  })
}
