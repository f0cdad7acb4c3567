import { describe, expect, test } from '@jest/globals'
import type { Info } from '@temporalio/activity'
import { MockActivityEnvironment } from '@temporalio/testing'
import { DefaultLogger } from '@temporalio/worker'
import { areas } from '../../src/areas.ts'
import { Problem } from '../../src/kernel/contract/problem.ts'
import type { ProcessStatus } from '../../src/kernel/contract/process.ts'
import type { ReceivedSignal } from '../../src/kernel/contract/step.ts'
import { createExecutor, type ExecuteCall } from '../../src/kernel/run/execute.ts'
import { NoSuchRecord } from '../../src/kernel/run/steps.ts'
import { newId } from '../../src/values/ids.ts'
import { activitiesOf, aRun } from '../support/activities.ts'
import { startEngine } from '../support/engine.ts'
import { creditWallet } from '../support/factories.ts'

const engine = await startEngine(areas)
const execute = createExecutor(engine.runtime)
const tenant = { ownerId: newId('customer'), mode: 'test' } as const

const activities = (by: ExecuteCall = execute) => activitiesOf(engine.runtime)(aRun(by))

const bodyOf = async (answer: ReturnType<typeof engine.run>) => JSON.parse(String((await answer).body))

async function anIntent() {
  const agent = { name: 'A', description: null, externalId: null, policyId: null, metadata: {} }
  const { id: agentId, walletId } = await bodyOf(engine.run(tenant, 'agents.create', { body: agent }))
  await creditWallet(engine, { ...tenant, walletId })
  const body = {
    agentId,
    amountCents: 2_500n,
    merchant: 'Bookshop',
    purpose: 'P',
    mcc: null,
    country: null,
    beneficiaryId: null,
    walletId: null,
    requestId: null,
    cardId: null,
    runId: null,
    clientIntentId: null,
    expiresInMinutes: 60,
    metadata: {},
  }
  const { id } = await bodyOf(engine.run(tenant, 'intents.create', { body }))
  return { id, agentId, ...tenant }
}

/** Logs errors only: otherwise it would print the failures that a test causes. */
const environmentOf = (info: Partial<Info> = {}) =>
  new MockActivityEnvironment(info, { logger: new DefaultLogger('ERROR') })

function attempt(activityId: string, signalled: ReceivedSignal, by = execute): Promise<string> {
  const workflowExecution = {
    workflowId: `intent/${signalled.id}`,
    runId: `run of ${signalled.id} by ${signalled.ownerId}`,
  }
  const environment = environmentOf({ activityId, workflowExecution })
  return environment.run(activities(by).decideIntent, signalled)
}

const approvedEvents = async (id: string): Promise<number> =>
  (
    await engine.sql(`select 1 from events where event = 'intent.approved' and data ->> 'intentId' = $1`, [
      id,
    ])
  ).rows.length

const approve = { verb: 'approve', payload: { by: 'Ada' } } as const

describe('a decision made by a signal', () => {
  test('is not repeated after its answer was lost; the retry reports that it was made', async () => {
    const intent = await anIntent()
    const lost: ExecuteCall = async call => {
      await execute(call)
      throw new Error('the worker was killed')
    }
    await expect(attempt('1', { ...intent, ...approve }, lost)).rejects.toThrow('failed: Error')
    expect(await attempt('1', { ...intent, ...approve })).toBe('Signal approve by Ada: done.')
    expect(await approvedEvents(intent.id)).toBe(1)
    expect(await attempt('2', { ...intent, ...approve })).toBe(
      'The signal approve by Ada changed nothing: The intent is already approved.',
    )
  })

  test('by an update has the key of the update, whichever run or attempt carries it out', async () => {
    const intent = await anIntent()
    const updateId = `${'ü'.repeat(1_000)}\u0000`
    const update = { ...intent, ...approve, updateId }
    expect(await attempt('1', update)).toBe('Update approve by Ada: done.')
    expect(await attempt('2', update)).toBe('Update approve by Ada: done.')
    expect(await attempt('3', { ...update, payload: { by: 'Ada', reason: 'Another' } })).toBe(
      'The update approve by Ada changed nothing: This Idempotency-Key was used with a different request. Use a new key.',
    )
    expect(await attempt('4', { ...update, updateId: 'another' })).toBe(
      'The update approve by Ada changed nothing: The intent is already approved.',
    )
    expect(await approvedEvents(intent.id)).toBe(1)
  })

  test('is retried while the database is away or an earlier attempt is still at work', async () => {
    const intent = await anIntent()
    for (const code of ['unavailable', 'busy', 'outcome_unknown', 'in_progress'] as const) {
      const away: ExecuteCall = () => Promise.reject(new Problem(code))
      await expect(attempt('1', { ...intent, ...approve }, away)).rejects.toThrow(
        `intents.approve failed: Error ${code}. See the log.`,
      )
    }
    expect(await attempt('1', { ...intent, ...approve })).toBe('Signal approve by Ada: done.')
  })

  test('writes no values of the record into Temporal when it fails, nor the sentence of a rule', async () => {
    const intent = await anIntent()
    const failing: ExecuteCall = () =>
      Promise.reject(
        Object.assign(new Error(`insert … values ('Bookshop')`), { name: 'DriverException', code: '23505' }),
      )
    const failed = await attempt('1', { ...intent, ...approve }, failing).catch((error: Error) => error)
    expect(failed).toMatchObject({
      message: 'intents.approve failed: DriverException 23505. See the log.',
    })
    expect(`${(failed as Error).stack} ${String((failed as Error).cause)}`).not.toContain('Bookshop')
    const refusing: ExecuteCall = async call => ({
      ...(await execute(call)),
      errorCode: 'against_policy',
      body: JSON.stringify({ error: 'Bookshop is blocked.' }),
    })
    expect(await attempt('1', { ...intent, ...approve }, refusing)).toBe(
      'The signal approve by Ada changed nothing: The agent’s policy does not allow the intent at the moment.',
    )
  })

  test('reports the refusal of the operation', async () => {
    const intent = await anIntent()
    const gone = { ...intent, id: 'intent_1', ...approve }
    expect(await attempt('1', gone)).toBe('The signal approve by Ada changed nothing: No such intent.')
    const stranger = { ...intent, ownerId: newId('customer'), ...approve }
    expect(await attempt('1', stranger)).toContain('No such intent.')
  })
})

describe('the activity that reads an intent', () => {
  const read = (id: string): Promise<ProcessStatus> =>
    environmentOf().run(activities().readIntent, { ...tenant, id, agentId: null })

  test('returns the status, what the intent waits for, and the signals that help', async () => {
    const { id } = await anIntent()
    const { dueInMs, readAtMs, ...seen } = await read(id)
    expect(seen).toEqual({
      status: 'created',
      summary: expect.stringMatching(/^Intent of € 25\.00 in test mode: waits for approval until .* UTC$/),
      closed: false,
      isBeingPaid: false,
      deadline: expect.stringMatching(/^\d\d \w{3} \d{4} \d\d:\d\d UTC$/),
      signals: ['approve', 'deny', 'cancel'],
    })
    expect(Number(dueInMs)).toBeGreaterThan(3_500_000)
  })

  test('fails without a retry for an unknown intent', async () => {
    await expect(read('intent_1')).rejects.toThrow(NoSuchRecord)
  })
})

describe('the expiry of an intent', () => {
  test('does nothing before the deadline, and takes effect once after it', async () => {
    const intent = await anIntent()
    const expire = () => environmentOf().run(activities().expireIntent, intent)
    const statusOf = async () =>
      (await engine.sql('select status from intents where id = $1', [intent.id])).rows[0].status
    await expire()
    expect(await statusOf()).toBe('created')
    await engine.sql('update intents set expires_at = now() where id = $1', [intent.id])
    await Promise.all([expire(), expire()])
    expect(await statusOf()).toBe('expired')
  })
})
