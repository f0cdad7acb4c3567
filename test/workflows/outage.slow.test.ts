import { describe, expect, test } from '@jest/globals'
import { accountPlace, consolePlaces } from '../../src/surface/console/sections.ts'
import { times } from '../support/at-once.ts'
import { anAgentUnder, anIntent, bodyOf } from '../support/factories.ts'
import { flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { signedInTo } from '../support/identity/console.ts'
import { addressOfRun, temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const proxy = await flakyProxy(`tcp://${addressOfRun()}`)
await proxy.close()
const service = await startTestService({ temporal: temporalOfRun(new URL(proxy.url).host) })
const temporal = await runViewer()
const owner = await service.owner()
const { client } = owner
const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })

const checks = async () => (await bodyOf(service.client().health.health())).checks

const untilTemporalIs = (temporal: 'ok' | 'unreachable') =>
  until(`Temporal is ${temporal}`, async () => (await checks()).temporal === temporal)

const outboxLength = async (): Promise<number> =>
  (await service.sql<{ rows: number }>('select count(*)::int as rows from outbox'))[0]?.rows ?? 0

const untilDelivered = () => until('the outbox is empty', async () => (await outboxLength()) === 0)

const statusOf = async (id: string) => (await bodyOf(client.intents.get({ params: { id } }))).status

const TEMPORAL_IS_AWAY = 'Temporal is unreachable'

describe('the console while Temporal is away', () => {
  test('says so at the top of every page, and everything can be read', async () => {
    await untilTemporalIs('unreachable')
    const { headers } = await signedInTo(service, owner)
    const read = async (path: string) => {
      const answer = await fetch(`${service.url}/${path}`, { headers: { ...headers, accept: 'text/html' } })
      return { path, status: answer.status, says: (await answer.text()).includes(TEMPORAL_IS_AWAY) }
    }
    const paths = [
      'console',
      ...[...consolePlaces, accountPlace].flatMap(({ tabs }) => tabs.map(({ name }) => `console/${name}`)),
    ]
    const pages = []
    for (const path of paths) pages.push(await read(path))
    expect(pages.length).toBeGreaterThan(30)
    expect(pages).toEqual(paths.map(path => ({ path, status: 200, says: true })))
  })
})

describe('an outage of Temporal', () => {
  test('from the start affects nothing else, is shown by /health, and loses no work', async () => {
    await untilTemporalIs('unreachable')
    expect((await checks()).relay.oldestSeconds).toBeNull()
    const intents = await times(10, () => anIntent(client, agent.id, { amountEuros: 11 }))
    const autoApproved = await anIntent(client, agent.id, { amountEuros: 9 })
    const [approved, denied, cancelled] = intents.map(({ id }) => ({ id }))
    await bodyOf(client.intents.approve({ params: approved as { id: string } }))
    await bodyOf(client.intents.deny({ params: denied as { id: string }, body: { reason: 'No' } }))
    await bodyOf(client.intents.cancel({ params: cancelled as { id: string } }))
    expect(autoApproved.status).toBe('approved')
    expect(await outboxLength()).toBe(13)
    const { database, relay } = await checks()
    expect(database).toBe('ok')
    expect(relay.oldestSeconds).toBeGreaterThan(0)

    await proxy.open()
    await untilDelivered()
    await untilTemporalIs('ok')
    expect((await checks()).relay.oldestSeconds).toBeNull()
    const [first, second, third, ...rest] = intents.map(intent => temporal.of(intent))
    await first?.untilDetails('in test mode: approved')
    expect([await second?.untilEnded(), await third?.untilEnded()]).toEqual(['denied', 'cancelled'])
    for (const run of rest) await run.untilDetails('waits for approval')
  })

  test('for a while delays decisions, which then reach the waiting runs', async () => {
    const [first, second] = [
      await anIntent(client, agent.id, { amountEuros: 11 }),
      await anIntent(client, agent.id, { amountEuros: 11 }),
    ]
    for (const intent of [first, second]) {
      await temporal.of(intent).untilBegun()
      await temporal.of(intent).untilDetails('waits for approval')
    }
    await proxy.close()
    await untilTemporalIs('unreachable')
    await bodyOf(client.intents.deny({ params: { id: first.id }, body: { reason: 'No' } }))
    await temporal.of(second).signal('deny', { by: 'Ada' })
    const third = await anIntent(client, agent.id, { amountEuros: 11 })
    expect(await outboxLength()).toBe(2)

    await proxy.open()
    await untilDelivered()
    expect(await temporal.of(first).untilEnded()).toBe('denied')
    expect(await temporal.of(second).untilEnded()).toBe('denied')
    expect(await statusOf(second.id)).toBe('denied')
    await temporal.of(third).untilBegun()
    await temporal.of(third).untilDetails('waits for approval')
    await untilTemporalIs('ok')
  })

  test('does not keep an intent from expiring at its deadline', async () => {
    const { id } = await anIntent(client, agent.id, { amountEuros: 11, expiresInMinutes: 1 })
    await untilDelivered()
    await proxy.close()
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect(await statusOf(id)).toBe('expired')
    await proxy.open()
    expect(await temporal.of({ workflowId: `intent/${id}` }).untilEnded()).toBe('expired')
  })

  test('delays the deletion of an agent until its deadline or the end of the outage', async () => {
    await proxy.close()
    await untilTemporalIs('unreachable')
    const anAgentBeingDeleted = async () => {
      const { id } = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
      const intent = await anIntent(client, id, { amountEuros: 11 })
      expect((await bodyOf(client.agents.delete({ params: { id } }))).status).toBe('deleting')
      expect(await statusOf(intent.id)).toBe('created')
      return { id, intent }
    }
    const untilDeleted = async ({
      id,
      intent,
    }: Awaited<ReturnType<typeof anAgentBeingDeleted>>): Promise<void> => {
      const get = () => bodyOf(client.agents.get({ params: { id } }))
      await until('it is deleted', async () => (await get()).status === 'deleted')
      expect(await statusOf(intent.id)).toBe('cancelled')
    }
    const late = await anAgentBeingDeleted()
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    await untilDeleted(late)
    const early = await anAgentBeingDeleted()
    await proxy.open()
    await untilDeleted(early)
    for (const { id } of [late, early]) {
      expect(await temporal.of({ workflowId: `agent/${id}` }).untilEnded()).toBe('deleted')
      const ends = await service.sql(`select 1 from events where event = 'agent.deleted' and agent_id = $1`, [
        id,
      ])
      expect(ends).toHaveLength(1)
    }
  })
})
