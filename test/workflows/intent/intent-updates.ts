import { describe, expect, test } from '@jest/globals'
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client'
import { intentRunsIn } from '../../support/control/intent-runs.ts'
import { aLiveClient, anAgent, anAgentUnder, bodyOf, creditWallet } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { textOf } from '../../support/temporal/history-text.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ temporal: true })
const { client, owner, auditOf, eventsOf, get, aWaitingIntent, temporal } = await intentRunsIn(service)

const MALFORMED = 'malformed: Send {"by": "your name", "reason": "why"}.'

/** `updates_refused_total` of intents. */
async function refusedAtOnce(reason: string): Promise<number> {
  const headers = { 'x-dashboard-secret': service.dashboardSecret }
  const { text } = await service.http('GET', '/metrics', { headers })
  const line = new RegExp(`^updates_refused_total\\{process="intent",reason="${reason}"\\} (\\d+)$`, 'm')
  return Number(line.exec(text)?.[1] ?? 0)
}

describe('an update of an intent', () => {
  test('to approve approves the record, and answers with its status', async () => {
    const { intent, run } = await aWaitingIntent()
    expect(await run.update('approve', { by: 'Ada Lovelace', reason: 'Go ahead' })).toEqual({
      status: 'approved',
      line: 'Update approve by Ada Lovelace: done.',
    })
    expect(await get(intent.id)).toMatchObject({
      status: 'approved',
      decidedBy: { type: 'operator', id: null, name: 'Ada Lovelace' },
      comment: 'Go ahead',
    })
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.approved'])
    expect((await auditOf(intent.id))[0]).toBe('intent.approved by operator Ada Lovelace')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'approved' })
  })

  test.each([
    ['deny', 'denied'],
    ['cancel', 'cancelled'],
  ])('to %s ends the record and the run, after the answer', async (verb, status) => {
    const { intent, run } = await aWaitingIntent()
    const sent = { by: 'Ada', reason: 'Not now' }
    expect(await run.update(verb, sent)).toEqual({ status, line: `Update ${verb} by Ada: done.` })
    expect(await run.untilEnded()).toBe(status)
    expect((await get(intent.id)).status).toBe(status)
    await expect(run.update(verb, sent)).rejects.toThrow(WorkflowNotFoundError)
    expect(await run.failedTasks()).toBe(0)
  })

  test('after a decision is refused with the sentence of the API, and the record stays', async () => {
    const { intent, run, params } = await aWaitingIntent()
    const approved = await bodyOf(client.intents.approve({ params }))
    expect(await run.refusal('deny', { by: 'Bob', reason: 'No' })).toBe(
      'refused: The update deny by Bob changed nothing: The intent is already approved.',
    )
    expect(await get(intent.id)).toEqual(approved)
    expect(await run.timeline()).toEqual([])
    // The Web UI would show the stack in full.
    const historyText = textOf(await run.handle.fetchHistory())
    expect(historyText).toContain('The intent is already approved.')
    expect(historyText).not.toContain('workflows/shared')
  })

  test('to deny without a reason is refused as the API refuses it, and the record stays', async () => {
    const { intent, run } = await aWaitingIntent()
    expect(await run.refusal('deny', { by: 'Ada' })).toMatch(
      /^refused: The update deny by Ada changed nothing: reason/,
    )
    expect(await get(intent.id)).toEqual(intent)
  })

  test('to approve is refused where the policy needs the passkey of a person', async () => {
    const { id } = await anAgentUnder(client, { requireAttestation: true })
    const { intent, run } = await aWaitingIntent({}, client, id)
    expect(await run.refusal('approve', { by: 'Ada' })).toMatch(
      /^refused: The update approve by Ada changed nothing: .*passkey/,
    )
    expect(await get(intent.id)).toEqual(intent)
    expect(await run.update('deny', { by: 'Ada', reason: 'No' })).toMatchObject({ status: 'denied' })
  })

  test('that is sent again to a later run of the record gets its first answer', async () => {
    const { intent, run } = await aWaitingIntent()
    const answer = await run.update('approve', { by: 'Ada' }, 'again')
    const { taskQueue, workflowId } = await run.handle.describe()
    await run.handle.terminate()
    const args = [{ id: intent.id, ownerId: owner.ownerId, mode: 'test', agentId: intent.agentId }]
    await temporal.client.workflow.start('intent', { workflowId, taskQueue, args })
    expect(await run.update('approve', { by: 'Ada' }, 'again')).toEqual(answer)
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.approved'])
  })

  test('that is malformed is refused at once and counted, and leaves no event', async () => {
    const { intent, run } = await aWaitingIntent()
    const [before, counted] = [await run.historyLength(), await refusedAtOnce('malformed')]
    const wrong = [
      ...[undefined, null, 'approve', ['Ada'], { comment: 'Yes' }, { by: ' ' }, { by: { $gt: '' } }],
      ...[{ by: 'a'.repeat(201) }, { by: 'Ada', comment: 7 }, { by: 'Ada', comment: null }],
      ...[
        { by: 'Ada', status: 'approved' },
        { by: 'Ada', comment: 'Yes', reason: 'Yes' },
      ],
      ...[{ by: 'A\u0000da' }, { by: 'A\uD800da' }, { by: 'Ada', reason: 'a'.repeat(1_001) }],
    ]
    for (const payload of wrong) expect(await run.refusal('approve', payload)).toBe(MALFORMED)
    expect(await run.historyLength()).toBe(before)
    expect(await refusedAtOnce('malformed')).toBe(counted + wrong.length)
    expect(await get(intent.id)).toEqual(intent)
    await run.update('deny', { by: 'Ada', reason: 'No' })
    expect(await run.untilEnded()).toBe('denied')
    expect(await run.failedTasks()).toBe(0)
  })

  test('with an unreadable payload is refused, and no workflow task fails', async () => {
    const { intent, run } = await aWaitingIntent()
    const unreadable = { 'json/plain': '{"by": ', 'binary/encrypted': '\u0001\u0002', '': '{"by":"Ada"}' }
    for (const [encoding, data] of Object.entries(unreadable)) {
      const metadata = encoding ? { encoding: Buffer.from(encoding) } : {}
      const answer = await temporal.client.workflowService.updateWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId: String(intent.workflowId) },
        waitPolicy: { lifecycleStage: 3 },
        request: {
          meta: { updateId: `unreadable ${encoding}` },
          input: { name: 'approve', args: { payloads: [{ metadata, data: Buffer.from(data) }] } },
        },
      })
      expect(answer.outcome?.failure?.applicationFailureInfo?.type).toBe('malformed')
    }
    expect(await get(intent.id)).toEqual(intent)
    await run.update('deny', { by: 'Ada', reason: 'No' })
    expect(await run.failedTasks()).toBe(0)
  })

  test('of live money is refused without OPERATOR_SIGNALS', async () => {
    const live = await aLiveClient(service, await service.owner())
    const agent = await anAgent(live)
    await creditWallet(service, agent)
    const { intent, run, params } = await aWaitingIntent({}, live, agent.id)
    for (const verb of ['approve', 'deny', 'cancel'])
      expect(await run.refusal(verb, { by: 'Ada' })).toBe(
        `refused: An update ${verb} was ignored: OPERATOR_SIGNALS is off, and this is live money.`,
      )
    expect(await get(intent.id, live)).toEqual(intent)
    await bodyOf(live.intents.deny({ params, body: { reason: 'No' } }))
    expect(await run.untilEnded()).toBe('denied')
  })

  test('at the same time as requests and signals takes effect first or not at all', async () => {
    const waiting = await Promise.all(Array.from({ length: 5 }, () => aWaitingIntent()))
    const approvals = await Promise.all(
      waiting.map(async ({ run, params }) => {
        const [updated] = await Promise.allSettled([
          run.update('approve', { by: 'Bob' }),
          client.intents.deny({ params, body: { reason: 'No' } }),
          run.signal('deny', { by: 'Ada' }),
        ])
        return updated
      }),
    )
    for (const [index, { intent }] of waiting.entries()) {
      await until('it is decided', async () => (await get(intent.id)).status !== 'created')
      const { status, decidedBy } = await get(intent.id)
      const isByUpdate = decidedBy?.name === 'Bob'
      expect([approvals[index]?.status, status]).toEqual(
        isByUpdate ? ['fulfilled', 'approved'] : ['rejected', 'denied'],
      )
      expect(await eventsOf(intent.id)).toEqual(['intent.created', `intent.${status}`])
    }
    const refusals = approvals.filter(one => one.status === 'rejected').map(({ reason }) => reason)
    for (const refusal of refusals)
      expect([WorkflowUpdateFailedError, WorkflowNotFoundError]).toContain(refusal.constructor)
  })
})
