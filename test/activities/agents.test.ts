import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import type { ActivityCaller, RecordRef } from '../../src/kernel/contract/step.ts'
import { createExecutor } from '../../src/kernel/run/execute.ts'
import { NoSuchRecord } from '../../src/kernel/run/steps.ts'
import { newId } from '../../src/values/ids.ts'
import { activitiesOf } from '../support/activities.ts'
import { times } from '../support/at-once.ts'
import { startEngine } from '../support/engine.ts'
import { queryValues } from '../support/rows.ts'
import { sweepAtOnce } from '../support/sweep.ts'

const engine = await startEngine(areas)
const execute = createExecutor(engine.runtime)
const tenant = { ownerId: newId('customer'), mode: 'test' } as const

const activities = (onChange?: ActivityCaller['onChange']) =>
  activitiesOf(engine.runtime)({
    requestIdOf: ({ id }) => `workflow:agent/${id}`,
    ...(onChange && { onChange }),
  })

async function carryOutDeletion(agent: RecordRef, onChange?: ActivityCaller['onChange']): Promise<void> {
  const { closeCards, cancelIntents, endRuns, returnMoney, finishDeletion } = activities(onChange)
  for (const step of [closeCards, cancelIntents, endRuns, returnMoney, finishDeletion]) await step(agent)
}

const read = (agent: RecordRef) => activities().readAgent(agent)
const readAtMs: unknown = expect.any(Number)

const createRecord = async (key: string, body: object): Promise<{ id: string }> =>
  JSON.parse(String((await engine.run(tenant, key, { body })).body))

async function anAgentWith(intents: number): Promise<RecordRef> {
  const members = { name: 'Reader', description: null, externalId: null, policyId: null, metadata: {} }
  const { id } = await createRecord('agents.create', members)
  const bare = { mcc: null, country: null, clientIntentId: null, expiresInMinutes: 60, metadata: {} }
  const nothing = { beneficiaryId: null, walletId: null, requestId: null, cardId: null, runId: null }
  const body = { agentId: id, amountCents: 2_500n, merchant: 'Bookshop', purpose: 'P', ...bare, ...nothing }
  await times(intents, () => engine.run(tenant, 'intents.create', { body }))
  return { id, ...tenant }
}

const deleteAgent = ({ id }: RecordRef) => engine.run(tenant, 'agents.delete', { params: { id } })

const statusOf = async ({ id }: RecordRef): Promise<string> =>
  (await engine.sql('select status from agents where id = $1', [id])).rows[0].status

const eventsOf = async ({ id }: RecordRef): Promise<Record<string, number>> => {
  const { rows } = await engine.sql(
    'select event, count(*)::int as times from events where agent_id = $1 group by 1',
    [id],
  )
  return Object.fromEntries(rows.map(({ event, times }) => [event, times]))
}

const openOf = async ({ id }: RecordRef): Promise<number> =>
  (await engine.sql(`select 1 from intents where agent_id = $1 and status = 'created'`, [id])).rows.length

describe('the deletion of an agent', () => {
  test('is carried out once, however often it is retried and wherever the worker is killed', async () => {
    const agent = await anAgentWith(3)
    await deleteAgent(agent)
    const killedAfter: (key: string) => ActivityCaller['onChange'] = key => step => {
      if (step.key === key) throw new Error('the worker was killed')
    }
    await expect(carryOutDeletion(agent, killedAfter('intents.endForAgent'))).rejects.toThrow('killed')
    expect([await openOf(agent), await statusOf(agent)]).toEqual([0, 'deleting'])
    await expect(carryOutDeletion(agent, killedAfter('agents.finishDeletion'))).rejects.toThrow('killed')
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

  test('returns no money and ends nothing while an intent is open', async () => {
    const agent = await anAgentWith(1)
    await deleteAgent(agent)
    const { returnMoney, finishDeletion } = activities()
    const { left } = await returnMoney(agent)
    expect(await finishDeletion(agent)).toMatchObject({ status: 'deleting', left })
    expect(left).toMatchObject({ intent: expect.any(String), wallet: expect.any(String) })
    expect(await eventsOf(agent)).not.toHaveProperty('wallet.closed')
  })

  test('looks again some hours later at money that is held, and needs no rescue meanwhile', async () => {
    const agent = await anAgentWith(0)
    await deleteAgent(agent)
    const hold = (cents: number) =>
      queryValues(
        engine.databaseUrl,
        `update ledger_accounts set posted_cents = $2, held_cents = $2
         where wallet_id = (select wallet_id from agents where id = $1)`,
        [agent.id, cents],
      )
    await hold(100)
    const { dueInMs, left } = await activities().returnMoney(agent)
    expect(left?.wallet).toEqual(expect.any(String))
    expect(dueInMs).toBeGreaterThan(3_600_000)
    await hold(0)
    await carryOutDeletion(agent)
    expect(await statusOf(agent)).toBe('deleted')
  })

  test('does nothing to an agent that is not being deleted', async () => {
    const agent = await anAgentWith(2)
    await carryOutDeletion(agent)
    expect([await openOf(agent), await statusOf(agent)]).toEqual([2, 'active'])
    expect(await eventsOf(agent)).toEqual({ 'agent.created': 1, 'intent.created': 2 })
  })
})

describe('the activity that reads an agent', () => {
  test('reports a pending deletion before anything else, and what is left of the agent', async () => {
    const agent = await anAgentWith(1)
    const nothing = {
      summary: 'Agent in test mode: nothing is pending',
      closed: true,
      left: null,
      dueInMs: null,
      readAtMs,
      deadline: null,
      signals: [],
    }
    expect(await read(agent)).toEqual({ ...nothing, status: 'active' })
    await deleteAgent(agent)
    const left = {
      card: null,
      intent: expect.stringMatching(/^intent_/),
      run: null,
      wallet: expect.stringMatching(/^wallet_/),
    }
    const deleting = {
      status: 'deleting',
      summary: 'Agent in test mode: it is being deleted',
      closed: false,
      left,
      dueInMs: expect.any(Number),
      readAtMs,
      deadline: null,
      signals: [],
    }
    expect(await read(agent)).toEqual(deleting)
    expect((await read(agent)).dueInMs).toBeLessThanOrEqual(0)
    const { cancelIntents, returnMoney } = activities()
    expect(await cancelIntents(agent)).toEqual({ ...deleting, left: { ...left, intent: null } })
    expect(await returnMoney(agent)).toEqual({ ...deleting, left: { ...left, intent: null, wallet: null } })
    await carryOutDeletion(agent)
    expect(await read(agent)).toEqual({ ...nothing, status: 'deleted' })
  })

  test('fails for an unknown agent', async () => {
    await expect(read({ ...tenant, id: 'agent_1' })).rejects.toBeInstanceOf(NoSuchRecord)
  })
})
