import { describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { recordActivities } from '../../activities/shared/record-activities.ts'
import { operationRunner } from '../../activities/shared/run-operation.ts'
import { areas } from '../../src/areas.ts'
import { agentProcess } from '../../src/control/agents/process.ts'
import { allOperations } from '../../src/kernel/contract/area.ts'
import type { ProcessInput } from '../../src/kernel/contract/process.ts'
import { createExecutor, type ExecuteCall } from '../../src/kernel/run/execute.ts'
import { SystemTurns } from '../../src/kernel/run/system-turns.ts'
import { newId } from '../../src/values/ids.ts'
import { activitiesOf } from '../support/activities.ts'
import { startEngine } from '../support/engine.ts'
import { times } from '../support/sample-service.ts'
import { sweepAtOnce } from '../support/sweep.ts'

const engine = await startEngine(areas)
const execute = createExecutor(engine.runtime)
const tenant = { ownerId: newId('customer'), mode: 'test' } as const

const activities = (by: ExecuteCall = execute) =>
  recordActivities(
    agentProcess,
    operationRunner({
      execute: by,
      operations: allOperations(areas),
      offsetOf: async () => 0,
      causeOf: async () => undefined,
      onFailure: () => undefined,
      turns: new SystemTurns(),
    }),
    { operatorSignals: false },
  )

/** Logs errors only: otherwise it would print the failures that a test causes. */
const environment = () => new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') })

const carryOutDeletion = (agent: ProcessInput, by?: ExecuteCall): Promise<void> =>
  environment().run(async () => {
    const { closeCards, cancelIntents, endRuns, returnMoney, finishDeletion } = activities(by)
    for (const step of [closeCards, cancelIntents, endRuns, returnMoney, finishDeletion])
      if (!(await step(agent))?.done) return
  })

const read = (agent: ProcessInput) => environment().run(activities().readAgent, agent)

const createRecord = async (key: string, body: object): Promise<{ id: string }> =>
  JSON.parse(String((await engine.run(tenant, key, { body })).body))

async function anAgentWith(intents: number): Promise<ProcessInput> {
  const members = { name: 'Reader', description: null, externalId: null, policyId: null, metadata: {} }
  const { id } = await createRecord('agents.create', members)
  const bare = { mcc: null, country: null, clientIntentId: null, expiresInMinutes: 60, metadata: {} }
  const nothing = { beneficiaryId: null, walletId: null, requestId: null, cardId: null, runId: null }
  const body = { agentId: id, amountCents: 2_500n, merchant: 'Bookshop', purpose: 'P', ...bare, ...nothing }
  await times(intents, () => engine.run(tenant, 'intents.create', { body }))
  return { id, agentId: id, ...tenant }
}

const deleteAgent = ({ id }: ProcessInput) => engine.run(tenant, 'agents.delete', { params: { id } })

const statusOf = async ({ id }: ProcessInput): Promise<string> =>
  (await engine.sql('select status from agents where id = $1', [id])).rows[0].status

const eventsOf = async ({ id }: ProcessInput): Promise<Record<string, number>> => {
  const { rows } = await engine.sql(
    'select event, count(*)::int as times from events where agent_id = $1 group by 1',
    [id],
  )
  return Object.fromEntries(rows.map(({ event, times }) => [event, times]))
}

const openOf = async ({ id }: ProcessInput): Promise<number> =>
  (await engine.sql(`select 1 from intents where agent_id = $1 and status = 'created'`, [id])).rows.length

describe('the deletion of an agent', () => {
  test('is carried out once, however often it is retried and wherever the worker is killed', async () => {
    const agent = await anAgentWith(3)
    await deleteAgent(agent)
    const killedAfter: (key: string) => ExecuteCall = key => async call => {
      const outcome = await execute(call)
      if (call.operation.key === key) throw new Error('the worker was killed')
      return outcome
    }
    await expect(carryOutDeletion(agent, killedAfter('intents.endForAgent'))).rejects.toThrow('failed: Error')
    expect([await openOf(agent), await statusOf(agent)]).toEqual([0, 'deleting'])
    await expect(carryOutDeletion(agent, killedAfter('agents.finishDeletion'))).rejects.toThrow(
      'failed: Error',
    )
    await carryOutDeletion(agent)
    expect(await statusOf(agent)).toBe('deleted')
    expect(await eventsOf(agent)).toEqual({
      'agent.created': 1,
      'intent.created': 3,
      'agent.deleting': 1,
      'intent.cancelled': 3,
      'agent.deleted': 1,
    })
  })

  test('is carried out once by concurrent activities and sweeps', async () => {
    const agent = await anAgentWith(20)
    await deleteAgent(agent)
    await engine.sql(`update agents set deletion_due_at = now() - interval '1 second' where id = $1`, [
      agent.id,
    ])
    const sweep = () =>
      sweepAtOnce({
        database: engine.runtime.database,
        execute,
        areas,
        activities: activitiesOf(engine.runtime),
      })
    await Promise.all([times(3, () => carryOutDeletion(agent)), times(3, sweep)])
    expect(await statusOf(agent)).toBe('deleted')
    expect(await eventsOf(agent)).toMatchObject({ 'intent.cancelled': 20, 'agent.deleted': 1 })
  })

  test('continues where it stopped when there are many intents to cancel', async () => {
    const agent = await anAgentWith(1)
    await engine.sql(
      `insert into intents select (jsonb_populate_record(i, jsonb_build_object('id', i.id || '_' || n))).*
       from intents i, generate_series(1, 900) as n where i.agent_id = $1`,
      [agent.id],
    )
    await deleteAgent(agent)
    await carryOutDeletion(agent)
    expect([await openOf(agent), await statusOf(agent)]).toEqual([401, 'deleting'])
    await carryOutDeletion(agent)
    expect([await openOf(agent), await statusOf(agent)]).toEqual([0, 'deleted'])
  })

  test('does nothing to an agent that is not being deleted', async () => {
    const agent = await anAgentWith(2)
    await carryOutDeletion(agent)
    expect([await openOf(agent), await statusOf(agent)]).toEqual([2, 'active'])
    expect(await eventsOf(agent)).toEqual({ 'agent.created': 1, 'intent.created': 2 })
  })
})

describe('the activity that reads an agent', () => {
  test('reports a pending deletion before anything else', async () => {
    const agent = await anAgentWith(0)
    const nothing = {
      summary: 'Agent in test mode: nothing is pending',
      closed: true,
      dueInMs: null,
      waitsFor: null,
      signals: [],
    }
    expect(await read(agent)).toEqual({ ...nothing, status: 'active' })
    await deleteAgent(agent)
    expect(await read(agent)).toEqual({
      status: 'deleting',
      summary: 'Agent in test mode: it is being deleted',
      closed: false,
      dueInMs: 0,
      waitsFor: 'for the next step of the deletion',
      signals: [],
    })
    await carryOutDeletion(agent)
    expect(await read(agent)).toEqual({ ...nothing, status: 'deleted' })
  })

  test('fails without a retry for an unknown agent', async () => {
    await expect(read({ ...tenant, id: 'agent_1', agentId: null })).rejects.toMatchObject({
      nonRetryable: true,
    })
  })
})
