import './mended-runs/pages.ts'
import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { mendRuns } from '../../src/app/missing-runs.ts'
import { keepSchedules, mendMonthly } from '../../src/app/schedules.ts'
import { areas } from '../../src/areas.ts'
import type { Database } from '../../src/kernel/database/prepared-sql.ts'
import { intentRunsIn } from '../support/control/intent-runs.ts'
import { delivery } from '../support/delivery/deliveries.ts'
import { answering, startReceiver } from '../support/delivery/receiver.ts'
import {
  aLiveClient,
  anAgent,
  anAgentUnder,
  aPayment,
  aWebhook,
  bringMoney,
  bodyOf,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import type { RunSeen } from '../support/temporal/runs.ts'
import { temporalOfRun } from '../support/temporal/temporal.ts'
import { until } from '../support/until.ts'

const access = temporalOfRun()
const receiver = await startReceiver()
const service = await startTestService({
  temporal: access,
  deliverers: 1,
  env: { OUTBOUND_ALLOW_CIDRS: '127.0.0.1', WEBHOOK_RETRY_SECONDS: '3600' },
})
const { client, aWaiting, get, becomes, auditOf, eventsOf, temporal } = await intentRunsIn(service)
const pool = new pg.Pool({ connectionString: service.databaseUrl })
afterAll(() => pool.end())

const mend = () => mendRuns({ areas, database: { pool } as Database }, temporal.client, access.taskQueue)

const executionOf = (run: RunSeen) => ({
  namespace: 'default',
  workflowExecution: { workflowId: run.handle.workflowId },
})

const runIdOf = async (run: RunSeen) => (await run.handle.describe()).runId

/** The list of all runs may hear of an end a little later: the next round finds it. */
async function isBegunAnew(run: RunSeen, before: string): Promise<void> {
  await until('it runs again', async () => {
    await mend()
    return (await run.status()) === 'RUNNING' && (await runIdOf(run)) !== before
  })
}

/** Each way in which an operator can end a run from outside. */
const ends: Readonly<Record<string, (run: RunSeen) => Promise<unknown>>> = {
  terminated: run => run.handle.terminate('by mistake'),
  async deleted(run) {
    await temporal.client.workflowService.deleteWorkflowExecution(executionOf(run))
    await until('it is gone', async () => (await run.status()) !== 'RUNNING')
  },
}

describe('a run that was ended while its record is open', () => {
  test.each(Object.keys(ends))('is begun anew when it was %s: of an intent', async how => {
    const { intent, run } = await aWaiting()
    const before = await runIdOf(run)
    await ends[how]?.(run)
    await isBegunAnew(run, before)
    await run.says('waits for approval')
    expect(await run.attributes()).toMatchObject({ AgentPayAgent: intent.agentId, AgentPayStatus: 'created' })
    await run.signal('approve', { by: 'Ada' })
    await becomes(intent.id, 'approved')
    await bodyOf(client.intents.cancel({ params: { id: intent.id } }))
    expect(await run.ends()).toBe('cancelled')
  })

  test('goes on when it was reset, and what was signalled counts once', async () => {
    const { intent, run } = await aWaiting()
    await run.signal('approve', { by: 'Ada' })
    await becomes(intent.id, 'approved')
    const { events } = await run.handle.fetchHistory()
    const first = events?.find(({ workflowTaskCompletedEventAttributes: is }) => is)
    await temporal.client.workflowService.resetWorkflowExecution({
      ...executionOf(run),
      ...{ workflowTaskFinishEventId: first?.eventId ?? null, requestId: intent.id, reason: 'by mistake' },
    })
    await run.says('The signal approve by Ada changed nothing: The intent is approved already.')
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.approved'])
    expect(await run.status()).toBe('RUNNING')
  })

  test('is begun anew: of a transfer, an agent and a webhook', async () => {
    const { id, workflowId } = await aPayment(client, { name: 'No Match GmbH' })
    const agent = await anAgentUnder(client, { expiresAfterMinutes: 60 })
    const path = '/fails'
    receiver.treat(path, answering(500))
    const webhook = await aWebhook(client, { url: receiver.url + path, events: ['agent.created'] })
    await anAgent(client)
    const failed = await delivery(
      client,
      webhook.id,
      one => one.attempts.length === 1 && one.status === 'pending',
    )
    const waiting = [
      [temporal.of({ workflowId }), 'waits for confirmPayee'],
      [temporal.of({ workflowId: `agent/${agent.id}` }), 'the policy ends'],
      [temporal.of(failed), 'Attempt 2 is made at'],
    ] as const
    for (const [run, says] of waiting) {
      await run.begins()
      await run.says(says)
      const before = await runIdOf(run)
      await run.handle.terminate()
      await isBegunAnew(run, before)
      await run.says(says)
    }
    await bodyOf(client.transfers.confirmPayee({ params: { id }, body: {} }))
    expect(await temporal.of({ workflowId }).ends()).toBe('completed')
  })

  test('begins by itself where none was: statements of a month that is over', async () => {
    const owner = await service.owner()
    const wallet = await bodyOf(owner.client.wallets.create({ body: { name: 'Purse' } }))
    await bodyOf(owner.client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 25 } }))
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [owner.ownerId, 40 * 86_400_000])
    await mend()
    await temporal.of({ workflowId: `statements/${owner.ownerId}` }).ends()
    const { data } = await bodyOf(owner.client.statements.list({ query: { walletId: wallet.id } }))
    expect(data.map(({ status }) => status)).toEqual(['final'])
  })

  test('stays ended where the record has ended, too', async () => {
    const { intent, run } = await aWaiting()
    const terminated = await aWaiting()
    await bodyOf(client.intents.deny({ params: { id: intent.id }, body: { reason: 'No' } }))
    await run.ends()
    await terminated.run.handle.terminate()
    await bodyOf(client.intents.cancel({ params: terminated.params }))
    const before = await Promise.all([run, terminated.run].map(runIdOf))
    await mend()
    await mend()
    expect(await Promise.all([run, terminated.run].map(runIdOf))).toEqual(before)
    expect([await run.status(), await terminated.run.status()]).toEqual(['COMPLETED', 'TERMINATED'])
  })

  test('of the schedule is begun anew under its id', async () => {
    const nobodys = temporalOfRun().taskQueue
    await keepSchedules(temporal.client, nobodys)
    const schedule = temporal.client.schedule.getHandle(`${nobodys}-statements`)
    await mendMonthly(temporal.client, nobodys)
    await schedule.trigger()
    const { workflow } = await until('it has acted', async () => {
      const { info } = await schedule.describe()
      return info.recentActions.at(-1)?.action
    })
    const run = temporal.of(workflow)
    const before = await runIdOf(run)
    await mendMonthly(temporal.client, nobodys)
    expect(await runIdOf(run)).toBe(before)
    await run.handle.terminate()
    await mendMonthly(temporal.client, nobodys)
    expect(await run.status()).toBe('RUNNING')
    expect(await runIdOf(run)).not.toBe(before)
    await schedule.delete()
    await mendMonthly(temporal.client, nobodys)
  })
})

describe('Request Cancellation', () => {
  test('cancels what an operator may cancel', async () => {
    const { intent, run } = await aWaiting()
    await run.handle.cancel()
    expect(await run.ends()).toBe('cancelled')
    expect(await get(intent.id)).toMatchObject({ status: 'cancelled', decidedBy: null })
    expect((await auditOf(intent.id))[0]).toBe('intent.cancelled by operator Request Cancellation')
    const paid = await aPayment(client, { name: 'No Match GmbH' })
    const payment = temporal.of(paid)
    await payment.begins()
    await payment.says('waits for confirmPayee')
    await payment.handle.cancel()
    expect(await payment.ends()).toBe('cancelled')
  })

  test('in the moment of its beginning is heard as well', async () => {
    const { id } = await anAgentUnder(client, {})
    const intent = await bodyOf(
      client.intents.create({
        body: { agentId: id, amountEuros: 25, merchant: 'Bookshop', purpose: 'Test' },
      }),
    )
    const run = temporal.of(intent)
    await run.begins()
    await run.handle.cancel()
    expect(await run.ends()).toBe('cancelled')
    expect((await get(intent.id)).status).toBe('cancelled')
  })

  test('is noted where it is about live money, and the run goes on', async () => {
    const live = await aLiveClient(service, await service.owner())
    const agent = await anAgent(live)
    await bringMoney(service, agent)
    const { intent, run, params } = await aWaiting({}, live, agent.id)
    await run.handle.cancel()
    await run.says('A signal cancel was ignored: OPERATOR_SIGNALS is off, and this is live money.')
    expect(await run.status()).toBe('RUNNING')
    expect(await get(intent.id, live)).toEqual(intent)
    await bodyOf(live.intents.approve({ params }))
    await run.says('live mode: approved')
    await bodyOf(live.intents.cancel({ params }))
    expect(await run.ends()).toBe('cancelled')
    expect(await run.failedTasks()).toBe(0)
  })

  test('of what nobody can cancel there is noted, and the run goes on', async () => {
    const agent = await anAgentUnder(client, { expiresAfterMinutes: 60 })
    const run = temporal.of({ workflowId: `agent/${agent.id}` })
    await run.begins()
    await run.says('the policy ends')
    await run.handle.cancel()
    await run.says('Request Cancellation changed nothing')
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    expect(await run.ends()).toBe('deleted')
    expect(await run.failedTasks()).toBe(0)
  })
})
