import { describe, expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, bodyOf } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { times } from '../support/sample-service.ts'
import { runs } from '../support/temporal/runs.ts'
import { addressOfRun, temporalOfRun } from '../support/temporal/temporal.ts'
import { until } from '../support/until.ts'

const proxy = await flakyProxy(`tcp://${addressOfRun()}`)
await proxy.close()
const service = await startTestService({ temporal: temporalOfRun(new URL(proxy.url).host) })
const temporal = await runs()
const { client } = await service.owner()
const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })

const checks = async () => (await bodyOf(service.client().health.health())).checks

const becomes = (temporal: 'ok' | 'unreachable') =>
  until(`Temporal is ${temporal}`, async () => (await checks()).temporal === temporal)

const waiting = async (): Promise<number> =>
  (await service.sql<{ rows: number }>('select count(*)::int as rows from outbox'))[0]?.rows ?? 0

const isDelivered = () => until('the outbox is empty', async () => (await waiting()) === 0)

const statusOf = async (id: string) => (await bodyOf(client.intents.get({ params: { id } }))).status

describe('while Temporal is away', () => {
  test('from the beginning, everything else works, health says so, and nothing is lost', async () => {
    await becomes('unreachable')
    expect((await checks()).relay.oldestSeconds).toBeNull()
    const intents = await times(10, () => anIntent(client, agent.id, { amountEuros: 11 }))
    const alone = await anIntent(client, agent.id, { amountEuros: 9 })
    const [approved, denied, cancelled] = intents.map(({ id }) => ({ id }))
    await bodyOf(client.intents.approve({ params: approved as { id: string } }))
    await bodyOf(client.intents.deny({ params: denied as { id: string }, body: { reason: 'No' } }))
    await bodyOf(client.intents.cancel({ params: cancelled as { id: string } }))
    expect(alone.status).toBe('approved')
    expect(await waiting()).toBe(13)
    const { database, relay } = await checks()
    expect(database).toBe('ok')
    expect(relay.oldestSeconds).toBeGreaterThan(0)

    await proxy.open()
    await isDelivered()
    await becomes('ok')
    expect((await checks()).relay.oldestSeconds).toBeNull()
    const [one, two, three, ...rest] = intents.map(intent => temporal.of(intent))
    await one?.says('in test mode: approved')
    expect([await two?.ends(), await three?.ends()]).toEqual(['denied', 'cancelled'])
    for (const run of rest) await run.says('waits for approval')
  })

  test('for a while, what is decided meanwhile reaches the runs that wait', async () => {
    const [first, second] = [
      await anIntent(client, agent.id, { amountEuros: 11 }),
      await anIntent(client, agent.id, { amountEuros: 11 }),
    ]
    for (const intent of [first, second]) {
      await temporal.of(intent).begins()
      await temporal.of(intent).says('waits for approval')
    }
    await proxy.close()
    await becomes('unreachable')
    await bodyOf(client.intents.deny({ params: { id: first.id }, body: { reason: 'No' } }))
    await temporal.of(second).signal('deny', { by: 'Ada' })
    const third = await anIntent(client, agent.id, { amountEuros: 11 })
    expect(await waiting()).toBe(2)

    await proxy.open()
    await isDelivered()
    expect(await temporal.of(first).ends()).toBe('denied')
    expect(await temporal.of(second).ends()).toBe('denied')
    expect(await statusOf(second.id)).toBe('denied')
    await temporal.of(third).begins()
    await temporal.of(third).says('waits for approval')
    await becomes('ok')
  })

  test('a deadline is met all the same', async () => {
    const { id } = await anIntent(client, agent.id, { amountEuros: 11, expiresInMinutes: 1 })
    await isDelivered()
    await proxy.close()
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await statusOf(id)).toBe('expired')
    await proxy.open()
    expect(await temporal.of({ workflowId: `intent/${id}` }).ends()).toBe('expired')
  })

  test('an agent is being deleted, and deleted once it is back or the time for it is over', async () => {
    await proxy.close()
    await becomes('unreachable')
    const leaving = async () => {
      const { id } = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
      const intent = await anIntent(client, id, { amountEuros: 11 })
      expect((await bodyOf(client.agents.delete({ params: { id } }))).status).toBe('deleting')
      expect(await statusOf(intent.id)).toBe('created')
      return { id, intent }
    }
    const isDeleted = async ({ id, intent }: Awaited<ReturnType<typeof leaving>>): Promise<void> => {
      const get = () => bodyOf(client.agents.get({ params: { id } }))
      await until('it is deleted', async () => (await get()).status === 'deleted')
      expect(await statusOf(intent.id)).toBe('cancelled')
    }
    const late = await leaving()
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    await isDeleted(late)
    const early = await leaving()
    await proxy.open()
    await isDeleted(early)
    for (const { id } of [late, early]) {
      expect(await temporal.of({ workflowId: `agent/${id}` }).ends()).toBe('deleted')
      const ends = await service.sql(`select 1 from events where event = 'agent.deleted' and agent_id = $1`, [
        id,
      ])
      expect(ends).toHaveLength(1)
    }
  })
})
