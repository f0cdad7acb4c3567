import './missing-runs/open-records.ts'
import { getEventListeners } from 'node:events'
import { afterAll, describe, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { cancellableTemporalCalls, repairWorkflowRuns, startRunRepair } from '../../src/app/relay-service.ts'
import { ensureSchedules, repairMonthlyStatementRun } from '../../src/app/schedules.ts'
import { areas } from '../../src/areas.ts'
import type { Database } from '../../src/kernel/database/prepared-sql.ts'
import { intentRunsIn } from '../support/control/intent-runs.ts'
import { untilDelivery } from '../support/delivery/deliveries.ts'
import { respondWith, startReceiver } from '../support/delivery/receiver.ts'
import {
  aLiveClient,
  anAgent,
  anAgentUnder,
  aSepaTransfer,
  aWebhook,
  bodyOf,
  creditWallet,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { submitted } from '../support/identity/company.ts'
import { temporalOfRun } from '../support/temporal/access.ts'
import type { RunView } from '../support/temporal/runs.ts'
import { scheduleOf } from '../support/temporal/schedules.ts'
import { until } from '../support/until.ts'

const access = temporalOfRun()
const receiver = await startReceiver()
const service = await startTestService({
  temporal: access,
  deliverers: 1,
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1', WEBHOOK_RETRY_SECONDS: '3600' },
})
const { client, aWaitingIntent, get, becomes, auditOf, eventsOf, temporal } = await intentRunsIn(service)
const pool = new pg.Pool({ connectionString: service.databaseUrl })
afterAll(() => pool.end())

const startMissingRuns = (taskQueue = access.taskQueue) =>
  repairWorkflowRuns({ areas, database: { pool } as Database }, temporal.client, taskQueue)

const executionOf = (run: RunView) => ({
  namespace: 'default',
  workflowExecution: { workflowId: run.handle.workflowId },
})

const runIdOf = async (run: RunView) => (await run.handle.describe()).runId

/** The list of runs may lag behind: the next round finds the end. */
async function untilStartedAgain(run: RunView, before: string): Promise<void> {
  await until('it runs again', async () => {
    await startMissingRuns()
    return (await run.status()) === 'RUNNING' && (await runIdOf(run)) !== before
  })
}

const waysToEnd: Readonly<Record<string, (run: RunView) => Promise<unknown>>> = {
  terminated: run => run.handle.terminate('by mistake'),
  async deleted(run) {
    await temporal.client.workflowService.deleteWorkflowExecution(executionOf(run))
    await until('it is gone', async () => (await run.status()) !== 'RUNNING')
  },
}

describe('a run that ended while its record is still open', () => {
  test.each(Object.keys(waysToEnd))('of an intent is started again when it was %s', async way => {
    const { intent, run } = await aWaitingIntent()
    const before = await runIdOf(run)
    await waysToEnd[way]?.(run)
    await untilStartedAgain(run, before)
    await run.untilDetails('waits for approval')
    expect(await run.attributes()).toMatchObject({ AgentPayAgent: intent.agentId, AgentPayStatus: 'created' })
    await run.signal('approve', { by: 'Ada' })
    await becomes(intent.id, 'approved')
    await bodyOf(client.intents.cancel({ params: { id: intent.id } }))
    expect(await run.untilEnded()).toBe('cancelled')
  })

  test('that is reset continues, and a signal takes effect once', async () => {
    const { intent, run } = await aWaitingIntent()
    await run.signal('approve', { by: 'Ada' })
    await becomes(intent.id, 'approved')
    const { events } = await run.handle.fetchHistory()
    const first = events?.find(({ workflowTaskCompletedEventAttributes: is }) => is)
    await temporal.client.workflowService.resetWorkflowExecution({
      ...executionOf(run),
      workflowTaskFinishEventId: first?.eventId ?? null,
      requestId: intent.id,
      reason: 'by mistake',
    })
    await run.untilDetails('The signal approve by Ada changed nothing: The intent is already approved.')
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.approved'])
    expect(await run.status()).toBe('RUNNING')
  })

  test('of a transfer, an agent, a webhook, a recovery or an onboarding is started again', async () => {
    const { id, workflowId } = await aSepaTransfer(client, { name: 'No Match GmbH' })
    const agent = await anAgentUnder(client, { expiresAfterMinutes: 60 })
    const path = '/fails'
    receiver.treat(path, respondWith(500))
    const webhook = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
    await anAgent(client)
    const failed = await untilDelivery(
      client,
      webhook.id,
      delivery => delivery.attempts.length === 1 && delivery.status === 'pending',
    )
    const person = await bodyOf(client.people.create({ body: { name: 'Grace Hopper', role: 'owner' } }))
    const { recovery } = await bodyOf(service.dash.people.recover({ params: { id: person.id } }))
    const company = await submitted(client)
    const waiting = [
      [temporal.of(company), 'for the identity of each representative'],
      [
        temporal.of({ workflowId: String(recovery?.workflowId) }),
        'for the 24 hours in which it can be stopped',
      ],
      [temporal.of({ workflowId }), 'waits for confirmPayee'],
      [temporal.of({ workflowId: `agent/${agent.id}` }), 'the policy ends'],
      [temporal.of(failed), 'Attempt 2 is made at'],
    ] as const
    for (const [run, details] of waiting) {
      await run.untilBegun()
      await run.untilDetails(details)
      const before = await runIdOf(run)
      await run.handle.terminate()
      await untilStartedAgain(run, before)
      await run.untilDetails(details)
    }
    const startedAgain = await temporal.of(failed).handle.describe()
    expect(await startedAgain.staticSummary()).toBe(
      `Webhook delivery of agent.created to ${webhook.id}, test`,
    )
    await bodyOf(client.transfers.confirmPayee({ params: { id }, body: {} }))
    expect(await temporal.of({ workflowId }).untilEnded()).toBe('completed')
  })

  test('that completed is followed by another where its record is open again, as after a restore', async () => {
    const { intent, run } = await aWaitingIntent()
    const row = async () =>
      (await service.sql('select to_jsonb(i) as row from intents i where id = $1', [intent.id]))[0]?.row
    const put = (backup: object) => {
      const columns = Object.keys(backup).join(', ')
      return service.sql(
        `update intents set (${columns}) = (select ${columns} from jsonb_populate_record(null::intents, $1))
         where id = $2`,
        [backup, intent.id],
      )
    }
    const backup = await row()
    await bodyOf(client.intents.deny({ params: { id: intent.id }, body: { reason: 'No' } }))
    await run.untilEnded()
    const [denied, before] = [await row(), await runIdOf(run)]
    await put(backup)
    await untilStartedAgain(run, before)
    await run.untilDetails('waits for approval')
    expect(await run.status()).toBe('RUNNING')
    await put(denied)
    await run.handle.terminate()
  })

  test('of due statements is started if there was none', async () => {
    const owner = await service.owner()
    const wallet = await bodyOf(owner.client.wallets.create({ body: { name: 'Purse' } }))
    await bodyOf(owner.client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 25 } }))
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [owner.ownerId, 40 * 86_400_000])
    await startMissingRuns()
    await temporal.of({ workflowId: `statements/${owner.ownerId}` }).untilEnded()
    const { data } = await bodyOf(owner.client.statements.list({ query: { walletId: wallet.id } }))
    expect(data.map(({ status }) => status)).toEqual(['final'])
    const made = await service.sql<{ request: string }>(
      `select request_id as request from events
       where owner_id = $1 and event = 'bill.updated' and data ->> 'walletId' = $2 and data ->> 'status' = 'final'`,
      [owner.ownerId, wallet.id],
    )
    // The request is the schedule’s, not the last one about the wallet.
    const [period] = data.map(({ period }) => period)
    expect(made).toEqual([{ request: `workflow:statements/${period}/${wallet.id}` }])
  })

  test('is not started again once the record has ended, too', async () => {
    const { intent, run } = await aWaitingIntent()
    const terminated = await aWaitingIntent()
    await bodyOf(client.intents.deny({ params: { id: intent.id }, body: { reason: 'No' } }))
    await run.untilEnded()
    await terminated.run.handle.terminate()
    await bodyOf(client.intents.cancel({ params: terminated.params }))
    const before = await Promise.all([run, terminated.run].map(runIdOf))
    await startMissingRuns()
    await startMissingRuns()
    expect(await Promise.all([run, terminated.run].map(runIdOf))).toEqual(before)
    expect([await run.status(), await terminated.run.status()]).toEqual(['COMPLETED', 'TERMINATED'])
  })

  test('is started on the task queue that is set now, and an open run stays on its own', async () => {
    const { intent, run } = await aWaitingIntent()
    const before = await runIdOf(run)
    const newQueue = temporalOfRun().taskQueue
    await startMissingRuns(newQueue)
    expect(await runIdOf(run)).toBe(before)
    await run.handle.terminate()
    await until('it runs again', async () => {
      await startMissingRuns(newQueue)
      return (await run.status()) === 'RUNNING'
    })
    expect((await run.handle.describe()).taskQueue).toBe(newQueue)
    await run.handle.terminate()
    await bodyOf(client.intents.cancel({ params: { id: intent.id } }))
  })

  test('is looked for, although Temporal does not say which builds its workers have', async () => {
    const describeWorkerDeployment = () => Promise.reject(new Error('not implemented'))
    const workflowService = { value: { describeWorkerDeployment } }
    const warn = jest.fn()
    const lookedFor = Promise.withResolvers<void>()
    const runtime = {
      database: { pool } as Database,
      settings: { temporalNamespace: access.namespace, temporalDeployment: access.taskQueue },
      log: { warn } as never,
      get areas() {
        lookedFor.resolve()
        return areas
      },
    }
    const client = Object.create(temporal.client, { workflowService })
    const repair = startRunRepair(runtime, client, access.taskQueue)
    await lookedFor.promise
    await repair.stop()
    expect(warn.mock.calls).toEqual([[expect.anything(), 'runs of gone workers were not ended']])
  })

  test('of the monthly schedule is started again under its id', async () => {
    const taskQueue = temporalOfRun().taskQueue
    await ensureSchedules(temporal.client, taskQueue)
    const schedule = scheduleOf(temporal.client, taskQueue, 'statements')
    await repairMonthlyStatementRun(temporal.client, taskQueue)
    const run = temporal.of(await schedule.trigger())
    const before = await runIdOf(run)
    await repairMonthlyStatementRun(temporal.client, taskQueue)
    expect(await runIdOf(run)).toBe(before)
    await run.handle.terminate()
    await repairMonthlyStatementRun(temporal.client, taskQueue)
    expect(await run.status()).toBe('RUNNING')
    expect(await runIdOf(run)).not.toBe(before)
    await schedule.handle.delete()
    await repairMonthlyStatementRun(temporal.client, taskQueue)
  })
})

describe('Request Cancellation', () => {
  test('cancels what an operator may cancel', async () => {
    const { intent, run } = await aWaitingIntent()
    await run.handle.cancel()
    expect(await run.untilEnded()).toBe('cancelled')
    expect(await get(intent.id)).toMatchObject({ status: 'cancelled', decidedBy: null })
    expect((await auditOf(intent.id))[0]).toBe('intent.cancelled by operator Request Cancellation')
    const paid = await aSepaTransfer(client, { name: 'No Match GmbH' })
    const payment = temporal.of(paid)
    await payment.untilBegun()
    await payment.untilDetails('waits for confirmPayee')
    await payment.handle.cancel()
    expect(await payment.untilEnded()).toBe('cancelled')
  })

  test('works at the very start of a run', async () => {
    const { id } = await anAgentUnder(client, {})
    const intent = await bodyOf(
      client.intents.create({
        body: { agentId: id, amountEuros: 25, merchant: 'Bookshop', purpose: 'Test' },
      }),
    )
    const run = temporal.of(intent)
    await run.untilBegun()
    await run.handle.cancel()
    expect(await run.untilEnded()).toBe('cancelled')
    expect((await get(intent.id)).status).toBe('cancelled')
  })

  test('is refused for live money in the details, and the run continues', async () => {
    const live = await aLiveClient(service, await service.owner())
    const agent = await anAgent(live)
    await creditWallet(service, agent)
    const { intent, run, params } = await aWaitingIntent({}, live, agent.id)
    await run.handle.cancel()
    await run.untilDetails('A signal cancel was ignored: OPERATOR_SIGNALS is off, and this is live money.')
    expect(await run.status()).toBe('RUNNING')
    expect(await get(intent.id, live)).toEqual(intent)
    await bodyOf(live.intents.approve({ params }))
    await run.untilDetails('live mode: approved')
    await bodyOf(live.intents.cancel({ params }))
    expect(await run.untilEnded()).toBe('cancelled')
    expect(await run.failedTasks()).toBe(0)
  })

  test('is refused in the details if nothing can be cancelled, and the run continues', async () => {
    const agent = await anAgentUnder(client, { expiresAfterMinutes: 60 })
    const run = temporal.of({ workflowId: `agent/${agent.id}` })
    await run.untilBegun()
    await run.untilDetails('the policy ends')
    await run.handle.cancel()
    await run.untilDetails('Request Cancellation changed nothing')
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    expect(await run.untilEnded()).toBe('deleted')
    expect(await run.failedTasks()).toBe(0)
  })
})

describe('rounds of calls to Temporal', () => {
  const { connection } = temporal.client

  test('leave no listener on a signal that outlives them', async () => {
    const signals: AbortSignal[] = []
    const calls = cancellableTemporalCalls({
      withAbortSignal(signal, work) {
        signals.push(signal)
        return connection.withAbortSignal(signal, work)
      },
    })
    for (let round = 1; round <= 3; round++)
      await calls.run(() => connection.workflowService.getSystemInfo({}))
    expect(signals.map(signal => getEventListeners(signal, 'abort').length)).toEqual([1, 1, 1])
    expect(new Set(signals).size).toBe(3)
  })

  test('end with cancel', async () => {
    const calls = cancellableTemporalCalls(connection)
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = calls.run(async () => {
      resolve()
      for (;;) await connection.workflowService.getSystemInfo({})
    })
    await promise
    calls.cancel()
    expect(calls.isCancelled).toBe(true)
    await expect(waiting).rejects.toThrow(/CANCELLED/)
  })
})
