import { describe, expect, test } from '@jest/globals'
import type { IntentSignal } from '../../../src/control/intents/process.ts'
import { RECORD_CHANGED_SIGNAL } from '../../../src/kernel/contract/process.ts'
import { minutes } from '../../../src/values/clock.ts'
import { intentRunsIn } from '../../support/control/intent-runs.ts'
import {
  aFundedAgent,
  aLiveClient,
  anAgent,
  anAgentUnder,
  bodyOf,
  creditWallet,
  type TestClient,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ temporal: true })
const { client, auditOf, eventsOf, get, becomes, aWaitingIntent, temporal } = await intentRunsIn(service)
const signalService = await startTestService({ temporal: true, env: { OPERATOR_SIGNALS: 'true' } })

const verbs: readonly IntentSignal[] = ['approve', 'deny', 'cancel']

describe('a signal to an intent', () => {
  test('to approve approves the record', async () => {
    const { intent, run } = await aWaitingIntent()
    await run.signal('approve', { by: 'Ada Lovelace', comment: 'Go ahead' })
    await becomes(intent.id, 'approved')
    expect(await get(intent.id)).toEqual({
      ...intent,
      status: 'approved',
      decision: { ...intent.decision, id: expect.any(String) },
      decidedAt: expect.any(String),
      decidedBy: { type: 'operator', id: null, name: 'Ada Lovelace' },
      comment: 'Go ahead',
      updatedAt: expect.any(String),
    })
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.approved'])
    expect((await auditOf(intent.id))[0]).toBe('intent.approved by operator Ada Lovelace')
    await run.untilDetails('Signal approve by Ada Lovelace: done.')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'approved' })
    expect(await run.status()).toBe('RUNNING')
  })

  test('to deny denies the record and ends the run', async () => {
    const [withoutReason, withReason] = [await aWaitingIntent(), await aWaitingIntent()]
    await withoutReason.run.signal('deny', { by: 'Ada' })
    await withReason.run.signal('deny', { by: 'Ada', reason: 'Too expensive' })
    expect(await withoutReason.run.untilEnded()).toBe('denied')
    expect(await withReason.run.untilEnded()).toBe('denied')
    const decidedBy = { type: 'operator', id: null, name: 'Ada' }
    const comment = 'Denied by Ada'
    expect(await get(withoutReason.intent.id)).toMatchObject({ status: 'denied', decidedBy, comment })
    expect(await get(withReason.intent.id)).toMatchObject({
      status: 'denied',
      decidedBy,
      comment: 'Too expensive',
    })
    expect((await auditOf(withReason.intent.id))[0]).toBe('intent.denied by operator Ada')
  })

  test('to cancel cancels the record and ends the run', async () => {
    const { intent, run } = await aWaitingIntent()
    await run.signal('cancel', { by: 'Ada', comment: 'Sold out' })
    expect(await run.untilEnded()).toBe('cancelled')
    expect(await get(intent.id)).toMatchObject({
      status: 'cancelled',
      decidedBy: null,
      comment: 'Sold out',
    })
    expect((await auditOf(intent.id))[0]).toBe('intent.cancelled by operator Ada')
  })

  test('after a decision changes nothing and says so', async () => {
    const { intent, run } = await aWaitingIntent()
    const approved = await bodyOf(client.intents.approve({ params: { id: intent.id } }))
    await run.signal('approve', { by: 'Ada' })
    await run.untilDetails('The signal approve by Ada changed nothing: The intent is already approved.')
    await run.signal('deny', { by: 'Bob' })
    await run.untilDetails('The signal deny by Bob changed nothing: The intent is already approved.')
    const lines = [
      'The signal approve by Ada changed nothing: The intent is already approved.',
      'The signal deny by Bob changed nothing: The intent is already approved.',
    ]
    expect(await run.timeline()).toEqual(lines)
    expect(await get(intent.id)).toEqual(approved)
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.approved'])
  })

  test('before a request makes the request too late', async () => {
    const { intent, run, params } = await aWaitingIntent()
    await run.signal('approve', { by: 'Ada' })
    await becomes(intent.id, 'approved')
    const late = await client.intents.approve({ params })
    expect(late).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    expect(late.error).toBe('The intent is already approved.')
  })

  test('at the same time as a request takes effect first or not at all, and every record agrees', async () => {
    const waiting = await Promise.all(Array.from({ length: 5 }, () => aWaitingIntent()))
    await Promise.all(
      waiting.flatMap(({ run, params }) => [
        run.signal('deny', { by: 'Ada' }),
        client.intents.approve({ params }),
        run.signal('approve', { by: 'Bob' }),
      ]),
    )
    for (const { intent, run } of waiting) {
      await until('it is decided', async () => (await get(intent.id)).status !== 'created')
      const { status, decidedBy } = await get(intent.id)
      expect(await eventsOf(intent.id)).toEqual(['intent.created', `intent.${status}`])
      expect((await auditOf(intent.id))[0]).toMatch(`intent.${status} by ${decidedBy?.type}`)
      await run.untilDetails(`in test mode: ${status}`)
      expect(await run.attributes()).toMatchObject({ AgentPayStatus: status })
    }
  })

  test('in a burst is processed in order, one after the other', async () => {
    const { intent, run } = await aWaitingIntent()
    for (let count = 0; count < 5; count++) await run.signal('approve', { by: `Person ${count}` })
    await run.untilDetails('The signal approve by Person 4 changed nothing')
    expect((await get(intent.id)).decidedBy).toMatchObject({ name: 'Person 0' })
    await run.signal('cancel', { by: 'Person 9' })
    expect(await run.untilEnded()).toBe('cancelled')
  })

  test('after the deadline changes nothing', async () => {
    const other = await service.owner()
    const { id } = await aFundedAgent(other.client)
    const { intent, run } = await aWaitingIntent({ expiresInMinutes: 10 }, other.client, id)
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [other.ownerId, minutes(11)])
    await run.signal('approve', { by: 'Ada' })
    await run.untilEnded()
    expect(await get(intent.id, other.client)).toMatchObject({ status: 'expired', decidedBy: null })
    expect(await run.details()).toMatch(/approve by Ada changed nothing: The (deadline|intent is expired)/)
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.expired'])
  })

  test('does not replace a passkey', async () => {
    const { id } = await anAgentUnder(client, { requireAttestation: true })
    const { intent, run } = await aWaitingIntent({}, client, id)
    await run.signal('approve', { by: 'Ada' })
    await run.untilDetails('changed nothing: The agent’s policy requires an approval with a passkey.')
    expect((await get(intent.id)).status).toBe('created')
  })

  test('with a wrong payload is ignored, and the details say so', async () => {
    const wrongPayloads: Record<string, unknown[]> = {
      nothing: [],
      null: [null],
      'a text': ['approve'],
      'a list': [['Ada']],
      'no name': [{ comment: 'Yes' }],
      'an empty name': [{ by: ' ' }],
      'a name that is none': [{ by: { $gt: '' } }],
      'a name without end': [{ by: 'a'.repeat(201) }],
      'a comment that is none': [{ by: 'Ada', comment: 7 }],
      'more than was asked for': [{ by: 'Ada', status: 'approved' }],
      'a comment and a reason': [{ by: 'Ada', comment: 'Yes', reason: 'No' }],
      'NUL in the name': [{ by: 'A\u0000da' }],
      'half a character': [{ by: 'A\uD800da' }],
    }
    const expectIgnored = async (verb: string, payloads: unknown[][]): Promise<void> => {
      const { intent, run } = await aWaitingIntent()
      for (const payload of payloads) await run.signal(verb, ...payload)
      expect(await run.untilTimeline(payloads.length)).toEqual(
        payloads.map(() => expect.stringMatching(`^A signal ${verb} was ignored`)),
      )
      await run.untilDetails(`A signal ${verb} was ignored`)
      expect(await get(intent.id)).toEqual(intent)
      expect(await eventsOf(intent.id)).toEqual(['intent.created'])
      await run.signal('approve', { by: 'Ada' })
      await becomes(intent.id, 'approved')
      expect(await run.failedTasks()).toBe(0)
    }
    const wrongFor = (at: number) => Object.values(wrongPayloads).filter((_, n) => n % verbs.length === at)
    await Promise.all(verbs.map((verb, at) => expectIgnored(verb, wrongFor(at))))
  })

  test('with an unreadable payload is ignored, and no workflow task fails', async () => {
    const unreadable: Record<string, string> = {
      'json/plain': '{"by": ',
      'json/protobuf': '{"by":"Ada"}',
      'binary/encrypted': '\u0001\u0002',
      'binary/plain': 'Ada',
      '': '{"by":"Ada"}',
    }
    const { intent, run } = await aWaitingIntent()
    for (const [encoding, data] of Object.entries(unreadable)) {
      const metadata = encoding ? { encoding: Buffer.from(encoding) } : {}
      const payload = { metadata, data: Buffer.from(data) }
      for (const signalName of ['approve', RECORD_CHANGED_SIGNAL])
        for (const payloads of [[payload], [payload, payload]])
          await temporal.client.workflowService.signalWorkflowExecution({
            namespace: 'default',
            workflowExecution: { workflowId: String(intent.workflowId) },
            signalName,
            input: { payloads },
          })
    }
    const approvals = 2 * Object.keys(unreadable).length
    expect(await run.untilTimeline(approvals)).toEqual(
      Array(approvals).fill(expect.stringMatching(/^A signal approve was ignored/)),
    )
    expect(await get(intent.id)).toEqual(intent)
    await run.signal('deny', { by: 'Ada' })
    expect(await run.untilEnded()).toBe('denied')
    expect(await run.failedTasks()).toBe(0)
  })

  test('of an unknown name is ignored, and the details say so', async () => {
    const { intent, run } = await aWaitingIntent()
    await run.signal('complete', { by: 'Ada' })
    await run.untilDetails('A signal complete was ignored: no such signal is known.')
    await run.signal('deny', { by: 'Ada' })
    expect(await run.untilEnded()).toBe('denied')
    expect(await run.failedTasks()).toBe(0)
    expect((await get(intent.id)).status).toBe('denied')
  })
})

describe('an intent of live money', () => {
  async function aLive(
    of: typeof service,
  ): Promise<{ live: TestClient; waiting: Awaited<ReturnType<typeof aWaitingIntent>> }> {
    const live = await aLiveClient(of, await of.owner())
    const agent = await anAgent(live)
    await creditWallet(of, agent)
    return { live, waiting: await aWaitingIntent({}, live, agent.id) }
  }

  test('is not decided by a signal', async () => {
    const { live, waiting } = await aLive(service)
    for (const verb of ['approve', 'deny', 'cancel']) {
      await waiting.run.signal(verb, { by: 'Ada' })
      const refusal = `A signal ${verb} was ignored: OPERATOR_SIGNALS is off, and this is live money.`
      await waiting.run.untilDetails(refusal)
    }
    expect(await get(waiting.intent.id, live)).toEqual(waiting.intent)
    await bodyOf(live.intents.deny({ params: waiting.params, body: { reason: 'No' } }))
    expect(await waiting.run.untilEnded()).toBe('denied')
  })

  test('is decided by a signal if OPERATOR_SIGNALS is on', async () => {
    const { live, waiting } = await aLive(signalService)
    await waiting.run.signal('approve', { by: 'Ada' })
    await becomes(waiting.intent.id, 'approved', live)
    expect((await auditOf(waiting.intent.id, live))[0]).toBe('intent.approved by operator Ada')
  })
})
