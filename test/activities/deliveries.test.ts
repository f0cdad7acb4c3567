import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { claimDeliveries } from '../../src/delivery/webhooks/dispatch/claim.ts'
import type { AttemptParts } from '../../src/delivery/webhooks/index.ts'
import { WebhookDeliverer } from '../../src/delivery/webhooks/index.ts'
import { sqlOn } from '../../src/kernel/database/prepared-sql.ts'
import { freeDeadLeases, ProcessLeases } from '../../src/kernel/database/process-lease.ts'
import { createExecutor } from '../../src/kernel/run/execute.ts'
import { NoTurn } from '../../src/kernel/run/system-turns.ts'
import type { OutboundRequest } from '../../src/ports/outbound.ts'
import { newId } from '../../src/values/ids.ts'
import { activitiesOf, aRun } from '../support/activities.ts'
import { startEngine } from '../support/engine.ts'
import { until } from '../support/until.ts'

const engine = await startEngine(areas)
const { database } = engine.runtime
const sql = async (text: string, values: unknown[] = []) => (await engine.sql(text, values)).rows

/** What the receivers were sent. */
const posts: OutboundRequest[] = []
let respond: (request: OutboundRequest) => Promise<number> = async () => 204
const postsTo = (url: string) => posts.filter(post => post.url === url)

const webhooks: AttemptParts = {
  systems: {
    tracing: null,
    vault: { open: (sealed: string) => `opened ${sealed}` } as never,
    outbound: {
      judge: () => undefined,
      isAllowed: () => true,
      async send(request) {
        posts.push(request)
        const status = await respond(request)
        const empty = { headers: {}, headerLists: {}, body: new Uint8Array(), cut: false }
        return { kind: 'answered', status, latencyMs: 1, ...empty }
      },
    },
  },
}
Object.assign(engine.runtime.ports.settings, { webhookRetrySeconds: [60, 300] })
Object.assign(engine.runtime.ports.systems, webhooks.systems)

const bind = activitiesOf(engine.runtime)
const stopping = new AbortController()
const { sendAgain, readDelivery } = bind(aRun(createExecutor(engine.runtime)))
const onBusyWorker = bind({
  ...aRun(createExecutor(engine.runtime)),
  async inTurn() {
    throw new NoTurn('Other calls are under way.')
  },
})
const onStoppingWorker = bind({ ...aRun(createExecutor(engine.runtime)), stopping: () => stopping.signal })

interface Subscription {
  readonly ownerId: string
  readonly mode: 'test'
  readonly webhookId: string
  readonly url: string
}

/** It wants no event, so that deliverers have no first attempts. */
async function aSubscription(ownerId = newId('customer')): Promise<Subscription> {
  const webhookId = newId('webhook')
  const url = `https://example.com/${webhookId}`
  await engine.sql(
    `insert into customers (id, created_at, updated_at, name, email, type, country, plan, status, kyc_status)
     values ($1, now(), now(), 'O', 'o@example.com', 'business', 'DE', 'enterprise', 'active', 'none') on conflict do nothing`,
    [ownerId],
  )
  await engine.sql(
    `insert into webhooks (id, owner_id, mode, created_at, updated_at, url, events, status, secret, hint, failures)
     values ($1, $2, 'test', now(), now(), $3, '{webhook.ping}', 'active', 'secret', 'h', 0)`,
    [webhookId, ownerId, url],
  )
  return { ownerId, mode: 'test', webhookId, url }
}

/** A delivery whose first attempt has failed; the next one is due in so many seconds, by its run. */
async function failedOnce({ ownerId, mode, webhookId }: Subscription, dueInSeconds = -1) {
  const [id, eventId] = [newId('delivery'), newId('event')]
  await engine.sql(
    `insert into events (id, owner_id, mode, event, data, request_id, created_at, actor_type, action, outcome, resource_id)
     values ($1, $2, $3, 'agent.created', '{"agentId":"agent_1"}', 'request_1', now(), 'key', 'agents.create', 'done', 'agent_1')`,
    [eventId, ownerId, mode],
  )
  await engine.sql(
    `insert into deliveries (id, owner_id, mode, created_at, updated_at, webhook_id, event_id, event, status, attempt_at, due_at,
       claims, tries, attempts, workflow_id)
     values ($1, $2, $3, now(), now(), $4, $5, 'agent.created', 'pending', now() + $6 * interval '1 second',
       now() + ($6 + 30) * interval '1 second', 1, 1, '[]', 'webhook/' || $1)`,
    [id, ownerId, mode, webhookId, eventId, dueInSeconds],
  )
  return { id, ownerId, mode, agentId: null }
}

const rowOf = async ({ id }: { readonly id: string }) =>
  (await sql('select *, due_at - attempt_at as grace from deliveries where id = $1', [id]))[0]
const webhookOf = async ({ webhookId }: Subscription) =>
  (await sql('select * from webhooks where id = $1', [webhookId]))[0]
const underWay = async () => Number((await sql('select count(*) from retries_under_way'))[0]?.count)

/** Holds the answers of this receiver, or of all, back until they are let go; it has the request meanwhile. */
function holding(status: number, { url }: Partial<Subscription> = {}) {
  const released = Promise.withResolvers<void>()
  respond = async request => {
    if (url !== undefined && request.url !== url) return 204
    await released.promise
    return status
  }
  return () => {
    respond = async () => 204
    released.resolve()
  }
}

const failWith = (status: number) => {
  respond = async () => status
}

async function aDeliverer() {
  const leases = new ProcessLeases(database)
  const rescued: string[] = []
  const deliverer = new WebhookDeliverer({
    ...webhooks,
    database,
    lease: leases.of('deliveries'),
    waitsMs: [60_000, 300_000],
    giveUp: async () => undefined,
    onOutbox: () => undefined,
    onWaiting: () => undefined,
    onRescue: ({ id }) => rescued.push(id),
    onFailure: error => {
      throw error
    },
    pollMs: 10,
  })
  return {
    rescued,
    async stop() {
      await deliverer.stop()
      await leases.end()
    },
  }
}

/** It has looked for all that is due once it has sent what came due after another one was sent. */
async function untilDelivererHasLooked(): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const late = await failedOnce(await aSubscription(), -31)
    await until('the deliverer has sent it', async () => (await rowOf(late)).status === 'delivered')
  }
}

describe('the activity that sends a webhook again', () => {
  test('makes one signed attempt that is due, and gives the status after it', async () => {
    const to = await aSubscription()
    const delivery = await failedOnce(to)
    respond = async () => 204
    expect(await sendAgain(delivery)).toMatchObject({ status: 'delivered', closed: true, dueInMs: null })
    const [post, ...others] = postsTo(to.url)
    expect(others).toEqual([])
    expect(post).toMatchObject({
      method: 'POST',
      timeoutMs: 30_000,
      body: expect.stringContaining('agent_1'),
    })
    expect(post?.headers).toMatchObject({
      'X-Service-Delivery-Id': expect.stringMatching(`^${delivery.id}-2\\.`),
      'X-Service-Signature': expect.any(String),
    })
    expect(await rowOf(delivery)).toMatchObject({ attempt_at: null, due_at: null, leased_until: null })
    expect(await underWay()).toBe(0)
  })

  test('waits for no turn of calls to one system, as each receiver is another', async () => {
    const delivery = await failedOnce(await aSubscription())
    respond = async () => 204
    expect(await onBusyWorker.sendAgain(delivery)).toMatchObject({ status: 'delivered' })
  })

  test('records a failure, the receiver’s health, and the next attempt by tier and settings', async () => {
    const to = await aSubscription()
    const delivery = await failedOnce(to)
    failWith(503)
    const after = await sendAgain(delivery)
    expect(after).toMatchObject({ status: 'pending', closed: false, attempt: 3, isPaused: false })
    expect(after.dueInMs).toBeGreaterThan(290_000)
    expect(after.dueInMs).toBeLessThanOrEqual(300_001)
    expect(await rowOf(delivery)).toMatchObject({ tries: 2, grace: { seconds: 30 }, leased_until: null })
    expect(await webhookOf(to)).toMatchObject({ failures: 1 })
    await engine.sql('update deliveries set attempt_at = now(), due_at = now() where id = $1', [delivery.id])
    expect(await sendAgain(delivery)).toMatchObject({ status: 'dead', closed: true })
  })

  test('disables the subscription after a 410, with its event, which ends the run', async () => {
    const to = await aSubscription()
    failWith(410)
    expect(await sendAgain(await failedOnce(to))).toMatchObject({ status: 'pending', closed: true })
    expect(await webhookOf(to)).toMatchObject({ status: 'disabled' })
    const told = await sql(`select 1 from events where event = 'webhook.disabled' and owner_id = $1`, [
      to.ownerId,
    ])
    expect(told).toHaveLength(1)
  })

  test('sends nothing before the attempt is due', async () => {
    const to = await aSubscription()
    const { dueInMs, closed } = await sendAgain(await failedOnce(to, 600))
    expect([closed, postsTo(to.url).length]).toEqual([false, 0])
    expect(dueInMs).toBeGreaterThan(590_000)
  })

  test('sends nothing while the receiver is paused, and waits for the end of the pause', async () => {
    const to = await aSubscription()
    await engine.sql(
      `update webhooks set failures = 5, failing_since = now(), paused_until = now() + interval '1 hour' where id = $1`,
      [to.webhookId],
    )
    const after = await sendAgain(await failedOnce(to))
    expect(after).toMatchObject({ closed: false, isPaused: true })
    expect([Number(after.dueInMs) > 3_590_000, postsTo(to.url).length]).toEqual([true, 0])
  })

  test.each([
    ['disabled', `status = 'disabled', status_reason = 'r'`],
    ['deleted', 'deleted_at = now()'],
  ])('sends nothing to a subscription that is %s, and the run ends', async (_, change) => {
    const to = await aSubscription()
    await engine.sql(`update webhooks set ${change} where id = $1`, [to.webhookId])
    expect(await sendAgain(await failedOnce(to))).toMatchObject({ status: 'pending', closed: true })
    expect(postsTo(to.url)).toEqual([])
  })

  test('sends to the address and by the secret that the subscription has by then', async () => {
    const to = await aSubscription()
    const delivery = await failedOnce(to)
    const before = await aSubscription()
    const url = `${to.url}/new`
    await engine.sql(`update webhooks set url = $2, secret = 'newer' where id = $1`, [to.webhookId, url])
    await sendAgain(delivery)
    await sendAgain(await failedOnce(before))
    expect([postsTo(to.url).length, postsTo(url).length]).toEqual([0, 1])
  })

  test('sends nothing of another owner', async () => {
    const to = await aSubscription()
    const delivery = await failedOnce(to)
    await expect(sendAgain({ ...delivery, ownerId: newId('customer') })).rejects.toThrow('no such record')
    expect(postsTo(to.url)).toEqual([])
  })

  test('makes it once where it is called twice at once', async () => {
    const to = await aSubscription()
    const delivery = await failedOnce(to)
    const release = holding(204)
    const first = sendAgain(delivery)
    await until('it is on its way', () => postsTo(to.url).length === 1)
    expect(await readDelivery(delivery)).toMatchObject({
      status: 'delivering',
      isUnderWay: true,
      signals: [],
    })
    await expect(sendAgain(delivery)).rejects.toThrow(NoTurn)
    release()
    expect(await first).toMatchObject({ status: 'delivered' })
    expect(postsTo(to.url)).toHaveLength(1)
  })
})

describe('a worker that stops while it posts', () => {
  test('leaves the delivery to the next attempt, which another one makes', async () => {
    const to = await aSubscription()
    const delivery = await failedOnce(to)
    const release = holding(204)
    const stopped = onStoppingWorker.sendAgain(delivery)
    await until('it is on its way', () => postsTo(to.url).length === 1)
    stopping.abort()
    const after = await stopped
    expect([after.status, Number(after.dueInMs) <= 0]).toEqual(['pending', true])
    release()
    expect(await sendAgain(delivery)).toMatchObject({ status: 'delivered' })
    expect(postsTo(to.url)).toHaveLength(2)
    expect(new Set(postsTo(to.url).map(({ headers }) => headers?.['X-Service-Delivery-Id'])).size).toBe(2)
  })

  test('is killed: once its lease has ended another one makes the attempt, and a late failure counts no more', async () => {
    const to = await aSubscription()
    const delivery = await failedOnce(to)
    const release = holding(500)
    const killed = sendAgain(delivery)
    await until('it is on its way', () => postsTo(to.url).length === 1)
    const { leased_by } = await rowOf(delivery)
    await expect(sendAgain(delivery)).rejects.toThrow(NoTurn)
    await engine.sql('update process_leases set held_until = now() where id = $1', [leased_by])
    await freeDeadLeases(sqlOn(database.pool))
    expect(await underWay()).toBe(0)
    respond = async () => 204
    expect(await sendAgain(delivery)).toMatchObject({ status: 'delivered' })
    release()
    await killed
    expect(await rowOf(delivery)).toMatchObject({ status: 'delivered', tries: 1 })
  })
})

describe('runs and deliverers', () => {
  test('that come to the same delivery at once make one attempt', async () => {
    const subscriptions = await Promise.all(Array.from({ length: 12 }, () => aSubscription()))
    const deliveries = await Promise.all(subscriptions.map(to => failedOnce(to, -31)))
    respond = async () => 204
    const deliverer = await aDeliverer()
    await Promise.all(deliveries.map(delivery => sendAgain(delivery).catch(() => undefined)))
    await until('all are delivered', async () => {
      const rows = await Promise.all(deliveries.map(rowOf))
      return rows.every(row => row.status === 'delivered')
    })
    await deliverer.stop()
    expect(subscriptions.map(({ url }) => postsTo(url).length)).toEqual(subscriptions.map(() => 1))
  })

  test('keep apart: a deliverer sends what a run is late with, counts it, and leaves what is due to the run', async () => {
    const [late, due] = [await aSubscription(), await aSubscription()]
    const [rescued, left] = [await failedOnce(late, -31), await failedOnce(due)]
    const deliverer = await aDeliverer()
    await until('the late one is delivered', async () => (await rowOf(rescued)).status === 'delivered')
    await deliverer.stop()
    expect(deliverer.rescued).toEqual([rescued.id])
    expect(await rowOf(left)).toMatchObject({ status: 'pending' })
    expect(postsTo(due.url)).toEqual([])
    const told = await sql(`select 1 from outbox where workflow_id = 'webhook/' || $1`, [rescued.id])
    expect(told).toHaveLength(1)
  })

  test('try a failing receiver one at a time, together, and the run that waits for its turn is not late', async () => {
    const to = await aSubscription()
    await engine.sql(`update webhooks set failures = 2, failing_since = now() where id = $1`, [to.webhookId])
    const [first, second, behind] = [await failedOnce(to), await failedOnce(to), await failedOnce(to, -31)]
    await engine.sql(
      'update deliveries set attempt_at = null, due_at = now(), workflow_id = null where id = $1',
      [behind.id],
    )
    const release = holding(500, to)
    const sending = sendAgain(first)
    await until('it is on its way', () => postsTo(to.url).length === 1)
    await expect(sendAgain(second)).rejects.toThrow(NoTurn)
    const { grace } = await rowOf(second)
    expect(grace.minutes).toBe(1)
    const deliverer = await aDeliverer()
    await untilDelivererHasLooked()
    expect(postsTo(to.url)).toHaveLength(1)
    release()
    // The third failed round pauses the receiver: neither the run nor what waits behind it is tried.
    expect(await sending).toMatchObject({ attempt: 3 })
    expect(await sendAgain(second)).toMatchObject({ isPaused: true })
    await deliverer.stop()
    expect(postsTo(to.url)).toHaveLength(1)
    expect((await rowOf(behind)).workflow_id).toBeNull()
  })

  test('give a deliverer nothing of a receiver that was paused after it had asked who has something due', async () => {
    const to = await aSubscription()
    const delivery = await failedOnce(to, -31)
    const share = { queue: { id: to.webhookId }, max: 1 }
    await engine.sql(
      `update webhooks set failures = 5, failing_since = now(), paused_until = now() + interval '1 minute' where id = $1`,
      [to.webhookId],
    )
    expect(await claimDeliveries(database, [share], newId('process'))).toEqual([])
    await engine.sql('update webhooks set paused_until = now() where id = $1', [to.webhookId])
    expect(await claimDeliveries(database, [share], newId('process'))).toMatchObject([{ id: delivery.id }])
  })

  test('count as one failed round where they fail together, so that a short failure pauses nothing', async () => {
    const subscription = await aSubscription()
    const deliveries = await Promise.all(Array.from({ length: 4 }, () => failedOnce(subscription)))
    const release = holding(503)
    const sending = deliveries.map(delivery => sendAgain(delivery))
    await until('all are under way', () => postsTo(subscription.url).length === deliveries.length)
    release()
    await Promise.all(sending)
    expect(await webhookOf(subscription)).toMatchObject({ failures: 1, paused_until: null })
  })

  test('have few attempts to a receiver, and of an owner, at once', async () => {
    const owner = newId('customer')
    const one = await aSubscription(owner)
    const others = await Promise.all(Array.from({ length: 4 }, () => aSubscription(owner)))
    const deliveries = await Promise.all(
      [one, ...others].flatMap(to => Array.from({ length: 17 }, () => failedOnce(to))),
    )
    const release = holding(204)
    const waiting = new Set<string>()
    const sent = deliveries.map(delivery => sendAgain(delivery).catch(() => void waiting.add(delivery.id)))
    const ofOwner = () => [one, ...others].map(({ url }) => postsTo(url).length)
    const count = () => ofOwner().reduce((sum, next) => sum + next, 0)
    await until('all have asked', () => count() + waiting.size === deliveries.length)
    expect(Math.max(...ofOwner())).toBeLessThanOrEqual(16)
    expect(count()).toBe(64)
    release()
    await Promise.all(sent)
    expect(await underWay()).toBe(0)
  })
})
