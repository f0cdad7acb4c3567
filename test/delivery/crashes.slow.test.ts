import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { burst } from '../support/burst.ts'
import { clientAt } from '../support/client.ts'
import { type EventStream, openStream } from '../support/delivery/event-stream.ts'
import { type Behavior, startReceiver } from '../support/delivery/receiver.ts'
import { aWebhook } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { type CrashingPostgres, crashes } from '../support/processes/crashing-postgres.ts'
import { ownPostgres } from '../support/processes/own-servers.ts'
import { createOwner, startApi, startPart } from '../support/processes/processes.ts'
import { queryValues } from '../support/rows.ts'
import { addressOfRun } from '../support/temporal/access.ts'
import { until } from '../support/until.ts'

/** `CRASH_ROUNDS=20` for the long form, `CRASH_REPORT=1` to print what was counted. */
const ROUNDS = Number(process.env.CRASH_ROUNDS || 1)
const PATIENCE_MS = 120_000 + ROUNDS * 30_000

const receiver = await startReceiver()
const servers: CrashingPostgres[] = []
for (const crash of Object.values(crashes)) {
  const postgres = await ownPostgres()
  servers.push(await crash(postgres, await flakyProxy(postgres.url)))
}

/** A receiver that refuses the first attempt of each nth event, and tells what it has taken. */
function taker(refusesEach: number) {
  const seen = new Set<string>()
  const taken: string[] = []
  const counted = { attempts: 0, refused: 0 }
  const behavior: Behavior = (response, _, { headers }) => {
    const event = String(headers['x-service-event-id'])
    const isRefused = !seen.has(event) && seen.size % refusesEach === refusesEach - 1
    seen.add(event)
    counted.attempts++
    if (isRefused) counted.refused++
    // The outcomes of many attempts are on their way at any time.
    setTimeout(() => {
      if (!isRefused) taken.push(event)
      response.writeHead(isRefused ? 503 : 204).end()
    }, randomInt(60))
  }
  return { behavior, taken, counted }
}

type Taker = ReturnType<typeof taker>

/** Follows the events, resumed whenever the stream ends, until it is closed. */
function following(url: string, token: string) {
  const streams: EventStream[] = []
  const ids = () => streams.flatMap(stream => stream.ids)
  let isClosed = false
  async function follow(): Promise<void> {
    while (!isClosed) {
      const query = '?event=agent.created'
      const stream = await openStream(url, { token, query, lastEventId: ids().at(-1) }).catch(() => undefined)
      if (stream) streams.push(stream)
      await (stream?.ended ?? sleep(100))
    }
  }
  const ended = follow()
  return {
    ids,
    isOpen: () => streams.some(({ status }) => status === 200),
    async close() {
      isClosed = true
      streams.at(-1)?.close()
      await ended
    },
  }
}

const EVENTS = `select id from events where event = 'agent.created' and id > $1 order by written_in, id`
const LISTED = 'select event_id from deliveries where webhook_id = $1'

/** A minute passes: what was leased, or left to a run, is late. What the service is just writing keeps its time. */
const PASS_TIME = [
  `update deliveries set due_at = now(), leased_until = null
   where id = any(array(select id from deliveries where status = 'pending' for update skip locked))`,
  `update webhooks set paused_until = null
   where id = any(array(select id from webhooks where paused_until is not null for update skip locked))`,
  'notify deliveries',
]
const SETTLED = `
select not exists (select from delivery_ranges) and overdue_seconds() is null
  and not exists (select from deliveries where status = 'pending')`

/** Where events are missing. */
const places = (events: readonly string[], has: ReadonlySet<string>): number[] =>
  events.flatMap((id, place) => (has.has(id) ? [] : [place]))

async function found(url: string, events: readonly string[], webhookId: string, { taken }: Taker) {
  const [has, journal] = [new Set(taken), new Set(events)]
  const listed = await queryValues(url, LISTED, [webhookId])
  const delivered = new Set(await queryValues(url, `${LISTED} and status = 'delivered'`, [webhookId]))
  return {
    lost: events.filter(id => !has.has(id)).length,
    unlisted: events.filter(id => has.has(id) && !delivered.has(id)).length,
    undelivered: listed.length - delivered.size,
    ofNoEvent: [...has].filter(id => !journal.has(id)).length,
  }
}

const NOTHING = { lost: 0, unlisted: 0, undelivered: 0, ofNoEvent: 0 }

async function startService(url: string) {
  const env = {
    OUTBOUND_ALLOW_CIDRS: '127.0.0.1',
    METRICS_PORT: '0',
    TEMPORAL_TASK_QUEUE: `crashes-${randomUUID()}`,
  }
  const parts = await Promise.all([startApi(url, env), startPart('relay', url, addressOfRun(), env)])
  const token = await createOwner(parts[0].url)
  await queryValues(url, `update customers set plan = 'business'`)
  return { url: parts[0].url, token, client: clientAt({ url: parts[0].url, token }), parts }
}

type Service = Awaited<ReturnType<typeof startService>>

async function subscribe({ client }: Service, taker: Taker): Promise<string> {
  const path = `/${randomUUID()}`
  receiver.treat(path, taker.behavior)
  return (await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })).id
}

/** Crashes it in the middle of webhooks, again and again, and returns once it works again. */
async function crashUnderLoad({ crash }: CrashingPostgres, service: Service, taken: readonly string[]) {
  const running = burst(service.url, service.token, { restMs: 10 })
  for (let round = 0; round < ROUNDS; round++) {
    const enough = taken.length + 100 + randomInt(100)
    await until('webhooks have been taken', () => taken.length >= enough, PATIENCE_MS)
    await crash()
  }
  const last = running.succeeded() + 50
  await until('it works again', () => running.succeeded() >= last, PATIENCE_MS)
  await running.stop()
}

test.each(Object.keys(crashes).map((name, n) => [name, n] as const))(
  `every webhook comes and is listed although ${ROUNDS} times under load %s`,
  async (_, n) => {
    const postgres = servers[n] as CrashingPostgres
    const service = await startService(postgres.url)
    const steady = taker(Number.POSITIVE_INFINITY)
    const shaky = taker(40)
    const ids = [await subscribe(service, steady), await subscribe(service, shaky)] as const
    const [before] = await queryValues(postgres.url, 'select max(id collate "C") from events')
    const stream = following(service.url, service.token)
    await until('the stream is open', stream.isOpen)
    await crashUnderLoad(postgres, service, steady.taken)
    const isSettled = async () => {
      for (const statement of PASS_TIME) await queryValues(postgres.url, statement)
      return (await queryValues(postgres.url, SETTLED))[0]
    }
    await until('nothing waits', isSettled, PATIENCE_MS)
    const events = (await queryValues(postgres.url, EVENTS, [before])).map(String)
    await until('the stream has the last event', () => stream.ids().includes(events.at(-1) ?? ''))
    await stream.close()
    const counted = {
      steady: await found(postgres.url, events, ids[0], steady),
      shaky: await found(postgres.url, events, ids[1], shaky),
      notStreamed: places(events, new Set(stream.ids())),
    }
    if (process.env.CRASH_REPORT) {
      const attempts = { steady: steady.counted, shaky: shaky.counted }
      process.stderr.write(`${JSON.stringify({ events: events.length, attempts, ...counted })}\n`)
    }
    expect(counted).toEqual({ steady: NOTHING, shaky: NOTHING, notStreamed: [] })
    for (const part of service.parts) part.kill('SIGTERM')
    expect(await Promise.all(service.parts.map(({ exit }) => exit))).toEqual([0, 0])
  },
  PATIENCE_MS * 3,
)
