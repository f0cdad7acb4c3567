import { describe, expect, test } from '@jest/globals'
import { intentProcess } from '../../src/control/intents/process.ts'
import { RECORD_CHANGED_SIGNAL } from '../../src/kernel/contract/process.ts'
import { days, minutes } from '../../src/values/clock.ts'
import { formatMinute } from '../../src/values/minute.ts'
import { intentRunsIn } from '../support/control/intent-runs.ts'
import { aFundedAgent, anAgentUnder, anIntent, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { textOf } from '../support/temporal/history-text.ts'
import { until } from '../support/until.ts'
import './intent/approval-steps.ts'
import './intent/command-signals.ts'
import './intent/intent-signals.ts'
import './intent/intent-updates.ts'

const service = await startTestService({ temporal: true, env: { PUBLIC_URL: 'https://pay.example.com' } })
const { get, eventsOf, client, agent, owner, aWaitingIntent, temporal } = await intentRunsIn(service)

describe('an intent that waits for approval', () => {
  test('has a run under its workflowId, which shows an operator what it waits for', async () => {
    const { intent, run } = await aWaitingIntent({ amountEuros: 19.9, merchant: 'Bookshop' })
    expect(intent.workflowId).toBe(`intent/${intent.id}`)
    expect(await run.status()).toBe('RUNNING')
    expect(await run.attributes()).toMatchObject({
      AgentPayOwner: owner.ownerId,
      AgentPayAgent: agent.id,
      AgentPayStatus: 'created',
    })
    const until = intent.expiresAt.slice(0, 16).replace('T', ' ')
    const line = `Intent of € 19.90 in test mode: waits for approval until ${until} UTC`
    const deadline = formatMinute(new Date(intent.expiresAt))
    const waitsFor = `for a person’s approval, until ${deadline}`
    const payload = '`{"by": "your name", "reason": "why"}`'
    const page = `https://pay.example.com/console/intents/${intent.id}`
    expect((await run.details()).split('\n\n')).toEqual([
      line,
      `It waits **${waitsFor}**.`,
      'Send an Update, which is answered, or a Signal: `approve`, `deny` or `cancel`, with this payload:',
      payload,
      `[Open the record](${page})`,
    ])
    expect(await run.timerSummaries()).toEqual([waitsFor])
    const { dueInMs, readAtMs, ...state } = (await run.state()) ?? {}
    const signals = ['approve', 'deny', 'cancel']
    expect(state).toEqual({
      ...{ status: 'created', summary: line, closed: false, isBeingPaid: false },
      ...{ waitsFor, deadline, signals, page },
    })
    expect(Number(dueInMs)).toBeGreaterThan(days(1) - minutes(2))
    expect(Number(dueInMs)).toBeLessThanOrEqual(days(1))
  })

  test('has a summary of kind, amount, mode and ids in the list of runs', async () => {
    const { run } = await aWaitingIntent({ amountEuros: 1_234.5, merchant: 'Bookshop' })
    const description = await run.handle.describe()
    expect(await description.staticSummary()).toBe('Intent of € 1,234.50, test')
    expect(await run.about()).toBe(intentProcess.details)
  })

  test('reads its record again on the signal that the relay sends', async () => {
    const { intent, run, params } = await aWaitingIntent()
    await bodyOf(client.intents.approve({ params }))
    await run.untilDetails('approved')
    await service.sql(`update intents set status = 'cancelled' where id = $1`, [intent.id])
    await run.signal(RECORD_CHANGED_SIGNAL)
    expect(await run.untilEnded()).toBe('cancelled')
    expect(await run.timeline()).toEqual([])
  })

  test('is in the list of runs, found by its owner, agent and status', async () => {
    const { intent } = await aWaitingIntent()
    const query = `AgentPayOwner = '${owner.ownerId}' and AgentPayAgent = '${agent.id}' and AgentPayStatus = 'created'`
    const listed = await until('it is listed', async () => {
      for await (const run of temporal.client.workflow.list({ query }))
        if (run.workflowId === intent.workflowId) return run
      return null
    })
    expect(listed).toMatchObject({ type: 'intent', status: { name: 'RUNNING' } })
  })

  test('leaves ids in its history, but no names and no purpose', async () => {
    const { run } = await aWaitingIntent({ purpose: 'A secret purpose', merchant: 'Zauberladen Müller' })
    await run.signal('approve', { by: 'Ada' })
    await run.untilDetails('in test mode: approved')
    const { events } = await run.handle.fetchHistory()
    const started = events?.[0]?.workflowExecutionStartedEventAttributes
    const [input] = (started?.input?.payloads ?? []).map(({ data }) => JSON.parse(String(data)))
    expect(Object.keys(input)).toEqual(['id', 'mode', 'agentId', 'ownerId'])
    const historyText = textOf([events, await run.handle.describe().then(({ raw }) => raw)])
    expect(historyText).toContain('Intent of € 25.00, test')
    for (const secret of ['A secret purpose', 'Zauberladen', 'Müller', agent.name])
      expect(historyText).not.toContain(secret)
  })

  test('cannot inject Markdown into what the operator reads', async () => {
    const merchant = 'Bookshop\n\n# Approved\n\n[Click](https://evil.example) <b>now</b> `x` **paid** | a'
    const { run } = await aWaitingIntent({ merchant })
    const [record = '', ...rest] = (await run.details()).split('\n\n')
    expect(rest).toHaveLength(4)
    expect(record).not.toContain('\n')
    expect(record.replace(/\\./g, '')).not.toMatch(/[[\]<>`*#|]/)
    await run.signal('approve', { by: 'Eve\n\n# Denied [x](https://evil.example)' })
    const paragraphs = (await run.untilDetails(/Eve/)).split('\n\n')
    expect(paragraphs.length).toBeGreaterThanOrEqual(5)
    // The link to the record comes last.
    expect(paragraphs.at(-2)?.replace(/\\./g, '')).not.toMatch(/[[\]<>`*#|]/)
  })

  test('has no run if it is approved at once', async () => {
    const { id } = await anAgentUnder(client, { autoApproveLimitEuros: 50 })
    const autoApproved = await anIntent(client, id)
    const waiting = await anIntent(client, id, { amountEuros: 51 })
    await temporal.of(waiting).untilBegun()
    expect(autoApproved).toMatchObject({ status: 'approved', workflowId: null })
    expect(await temporal.of({ workflowId: `intent/${autoApproved.id}` }).status()).toBeUndefined()
  })
})

describe('a decision by REST', () => {
  test('finds at most 8 events in the history of the run, leaves at most 14, and at most 24 with its end', async () => {
    // Without a query: one that meets the first task makes another task.
    const intent = await anIntent(client, agent.id)
    const run = temporal.of(intent)
    await run.untilBegun()
    const untilTimers = (count: number) =>
      until(`${count} timers`, async () => (await run.timerSummaries()).length === count)
    await untilTimers(1)
    expect(await run.historyLength()).toBeLessThanOrEqual(8)
    await bodyOf(client.intents.approve({ params: { id: intent.id } }))
    await untilTimers(2)
    expect(await run.historyLength()).toBeLessThanOrEqual(14)
    await bodyOf(client.intents.cancel({ params: { id: intent.id } }))
    expect(await run.untilEnded()).toBe('cancelled')
    expect(await run.historyLength()).toBeLessThanOrEqual(24)
  })

  test('to approve keeps the run waiting for the deadline', async () => {
    const { run, params } = await aWaitingIntent()
    await bodyOf(client.intents.approve({ params, body: { comment: 'Fine' } }))
    await run.untilDetails('in test mode: approved')
    expect(await run.status()).toBe('RUNNING')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'approved' })
    expect(await run.state()).toMatchObject({ status: 'approved', closed: false })
    await bodyOf(client.intents.cancel({ params }))
    expect(await run.untilEnded()).toBe('cancelled')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'cancelled' })
  })

  test('to deny or to cancel ends the run', async () => {
    const [denied, cancelled] = [await aWaitingIntent(), await aWaitingIntent()]
    await bodyOf(client.intents.deny({ params: denied.params, body: { reason: 'No' } }))
    await bodyOf(client.intents.cancel({ params: cancelled.params }))
    expect(await denied.run.untilEnded()).toBe('denied')
    expect(await cancelled.run.untilEnded()).toBe('cancelled')
    expect(await denied.run.details()).toContain('in test mode: denied')
  })
})

describe('the deadline of an intent', () => {
  test('ends the run, approved or not', async () => {
    const other = await service.owner()
    const { id } = await aFundedAgent(other.client)
    const waiting = await aWaitingIntent({ expiresInMinutes: 60 }, other.client, id)
    const approved = await aWaitingIntent({ expiresInMinutes: 90 }, other.client, id)
    const later = await aWaitingIntent({ expiresInMinutes: 2_000 }, other.client, id)
    await bodyOf(other.client.intents.approve({ params: approved.params }))
    await bodyOf(other.client.sandbox.advance({ body: { days: 1 } }))
    expect(await waiting.run.untilEnded()).toBe('expired')
    expect(await approved.run.untilEnded()).toBe('expired')
    expect(await eventsOf(approved.intent.id)).toEqual([
      'intent.created',
      'intent.approved',
      'intent.expired',
    ])
    expect(await later.run.status()).toBe('RUNNING')
    await until('its time is measured by the new clock', async () => {
      const { dueInMs } = (await later.run.state()) ?? {}
      return Number(dueInMs) < minutes(2_000) - days(1)
    })
  })

  test('ends the run by its timer if the test clock is just before it', async () => {
    const other = await service.owner()
    const { id } = await aFundedAgent(other.client)
    const { intent, run } = await aWaitingIntent({ expiresInMinutes: 1 }, other.client, id)
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [other.ownerId, minutes(1) - 500])
    await run.signal(RECORD_CHANGED_SIGNAL)
    expect(await run.untilEnded()).toBe('expired')
    expect((await get(intent.id, other.client)).status).toBe('expired')
  })
})
