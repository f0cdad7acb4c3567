import { describe, expect, test } from '@jest/globals'
import { NativeConnection, Worker } from '@temporalio/worker'
import pg from 'pg'
import { bundleWorkflows } from '../../src/app/workflow-bundle.ts'
import { RECORD_CHANGED_SIGNAL } from '../../src/kernel/contract/process.ts'
import { minutes } from '../../src/values/clock.ts'
import { newId } from '../../src/values/ids.ts'
import { anAgent, anAgentUnder, anIntent, aPolicy, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const service = await startTestService({ temporal: true })
const temporal = await runViewer()

async function aWaiting() {
  const { client, ownerId } = await service.owner()
  const agent = await anAgentUnder(client, { expiresAfterMinutes: 60 })
  const run = temporal.of({ workflowId: `agent/${agent.id}` })
  await run.untilBegun()
  await run.untilDetails('the policy ends')
  return { client, ownerId, agent, run, params: { agentId: agent.id } }
}

const endsOf = async (agentId: string): Promise<number> =>
  (await service.sql(`select 1 from events where event = 'policy.expired' and agent_id = $1`, [agentId]))
    .length

describe('an agent whose policy ends', () => {
  test('has a run that waits for the end', async () => {
    const { client, ownerId, agent, run, params } = await aWaiting()
    const policy = await bodyOf(client.policies.effective({ params }))
    const end = String(policy.expiresAt).slice(0, 16).replace('T', ' ')
    expect((await run.details()).split('\n\n')).toEqual([
      `Agent in test mode: the policy ends ${end} UTC`,
      expect.stringMatching(/^It waits \*\*for the policy to end, \d\d \w{3} \d{4} \d\d:\d\d UTC\*\*\.$/),
      'No signal changes anything just now.',
    ])
    expect(await run.timerSummaries()).toEqual([
      expect.stringMatching(/^for the policy to end, \d\d \w{3} \d{4} \d\d:\d\d UTC$/),
    ])
    expect(await run.attributes()).toMatchObject({
      AgentPayOwner: ownerId,
      AgentPayAgent: agent.id,
      AgentPayStatus: 'active',
    })
    expect(await run.status()).toBe('RUNNING')
  })

  test('gets the event once when the policy ends, and its run ends', async () => {
    const { client, agent, run, params } = await aWaiting()
    await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
    expect(await run.untilEnded()).toBe('active')
    expect(await endsOf(agent.id)).toBe(1)
    expect((await bodyOf(client.policies.effective({ params }))).expiredAt).not.toBeNull()
  })

  test('gets a new run with a new policy that ends', async () => {
    const { client, agent, run, params } = await aWaiting()
    await bodyOf(client.sandbox.advance({ body: { minutes: 60 } }))
    await run.untilEnded()
    const first = (await run.handle.describe()).runId
    const next = await aPolicy(client, { expiresAfterMinutes: 30 })
    await bodyOf(client.policies.assign({ params, body: { policyId: next.id } }))
    await until('another run waits', async () => {
      const { runId, status } = await run.handle.describe()
      return runId !== first && status.name === 'RUNNING'
    })
    await run.untilDetails('the policy ends')
    await bodyOf(client.sandbox.advance({ body: { minutes: 30 } }))
    expect(await run.untilEnded()).toBe('active')
    expect(await endsOf(agent.id)).toBe(2)
  })

  test('is waited for anew when the end of its policy is moved', async () => {
    const { client, agent, run, params } = await aWaiting()
    const policy = await bodyOf(client.policies.effective({ params }))
    const body = { name: 'Longer', expiresAfterMinutes: 120 }
    await bodyOf(client.policies.replace({ params: { id: policy.id }, body }))
    await until('the new end is waited for', async () => {
      const { dueInMs } = (await run.state()) ?? {}
      return Number(dueInMs) > minutes(100)
    })
    await bodyOf(client.sandbox.advance({ body: { minutes: 90 } }))
    expect(await endsOf(agent.id)).toBe(0)
    expect(await run.status()).toBe('RUNNING')
  })

  test('has its run ended when the policy’s end is removed or the agent is deleted', async () => {
    const [withoutEnd, deleted] = [await aWaiting(), await aWaiting()]
    const policy = await bodyOf(withoutEnd.client.policies.effective({ params: withoutEnd.params }))
    await bodyOf(withoutEnd.client.policies.replace({ params: { id: policy.id }, body: { name: 'Endless' } }))
    await bodyOf(deleted.client.agents.delete({ params: { id: deleted.agent.id } }))
    expect(await withoutEnd.run.untilEnded()).toBe('active')
    expect(await deleted.run.untilEnded()).toBe('deleted')
    for (const { client, agent } of [withoutEnd, deleted]) {
      await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
      expect(await endsOf(agent.id)).toBe(0)
    }
  })
})

async function lockIntent(id: string): Promise<() => Promise<void>> {
  const holder = new pg.Client({ connectionString: service.databaseUrl })
  await holder.connect()
  await holder.query('begin')
  await holder.query('select 1 from intents where id = $1 for update', [id])
  return () => holder.end()
}

describe('an agent that is being deleted', () => {
  test('has a run that shows an operator what is going on, until it is deleted', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await anAgent(client)
    const release = await lockIntent((await anIntent(client, agent.id)).id)
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    const run = temporal.of({ workflowId: `agent/${agent.id}` })
    await run.untilBegun()
    await run.untilDetails('Agent in test mode: it is being deleted')
    expect(await run.attributes()).toMatchObject({
      AgentPayOwner: ownerId,
      AgentPayAgent: agent.id,
      AgentPayStatus: 'deleting',
    })
    expect(await run.state()).toMatchObject({ status: 'deleting', closed: false })
    await release()
    expect(await run.untilEnded()).toBe('deleted')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'deleted' })
    expect(await run.failedTasks()).toBe(0)
  })

  test('is deleted after its open intents, whose runs end with them', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
    const [first, second] = [await anIntent(client, agent.id), await anIntent(client, agent.id)]
    for (const intent of [first, second]) await temporal.of(intent).untilBegun()
    const params = { id: agent.id }
    expect((await bodyOf(client.agents.delete({ params }))).status).toBe('deleting')
    expect(await temporal.of({ workflowId: `agent/${agent.id}` }).untilEnded()).toBe('deleted')
    expect((await bodyOf(client.agents.get({ params }))).status).toBe('deleted')
    for (const intent of [first, second]) expect(await temporal.of(intent).untilEnded()).toBe('cancelled')
    for (const { id } of [first, second])
      expect((await bodyOf(client.intents.get({ params: { id } }))).status).toBe('cancelled')
    const events = await service.sql<{ event: string }>(
      `select event from events where agent_id = $1 and event ~ 'delet|cancel' order by id`,
      [agent.id],
    )
    expect(events.map(({ event }) => event)).toEqual([
      'agent.deleting',
      'policy.deleted',
      ...Array(2).fill('intent.cancelled'),
      'agent.deleted',
    ])
    const { data } = await bodyOf(client.audit.list({ query: { resource: agent.id } }))
    expect(data.slice(0, 2).map(({ event, actorType }) => `${event} by ${actorType}`)).toEqual([
      'agent.deleted by process',
      'agent.deleting by key',
    ])
  })

  test('is deleted once by concurrent requests and by a run that waited for something else', async () => {
    const { client, agent, run } = await aWaiting()
    const params = { id: agent.id }
    const answers = await Promise.all(Array.from({ length: 4 }, () => client.agents.delete({ params })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400, 400])
    expect(await run.untilEnded()).toBe('deleted')
    const ends = await service.sql(`select 1 from events where event = 'agent.deleted' and agent_id = $1`, [
      agent.id,
    ])
    expect(ends).toHaveLength(1)
    expect(await endsOf(agent.id)).toBe(0)
  })
})

describe('a run whose record changes while it is being read', () => {
  test('reads the record again, even if nothing was pending', async () => {
    const { worker: server, taskQueue, namespace } = temporalOfRun()
    const connection = await NativeConnection.connect(server)
    const workflowId = `agent/${newId('agent')}`
    const nothing = { summary: 'nothing is pending', closed: true, dueInMs: null }
    const statuses = ['active', 'deleted']
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue,
      workflowBundle: await bundleWorkflows(),
      activities: {
        async readAgent() {
          const status = statuses.shift()
          if (status === 'active')
            await temporal.client.workflow.getHandle(workflowId).signal(RECORD_CHANGED_SIGNAL)
          return { ...nothing, status }
        },
      },
    })
    const args = [{ id: workflowId.slice(6), ownerId: newId('customer'), mode: 'test', agentId: null }]
    const options = { workflowId, taskQueue, args }
    expect(await worker.runUntil(temporal.client.workflow.execute('agent', options))).toBe('deleted')
    await connection.close()
  })
})

describe('an agent whose policy does not end', () => {
  test('has no run', async () => {
    const { client } = await service.owner()
    const agents = [await anAgent(client), await anAgentUnder(client, { dailyLimitEuros: 5 })]
    const { run } = await aWaiting()
    expect(await run.status()).toBe('RUNNING')
    for (const { id } of agents)
      expect(await temporal.of({ workflowId: `agent/${id}` }).status()).toBeUndefined()
  })
})
