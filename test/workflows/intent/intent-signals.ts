import { describe, expect, test } from '@jest/globals'
import { intentSignals } from '../../../src/control/intents/process.ts'
import { LOOK_AGAIN, RECORD_CHANGED } from '../../../src/kernel/contract/process.ts'
import { minutes } from '../../../src/values/clock.ts'
import { intentRunsIn } from '../../support/control/intent-runs.ts'
import {
  aFundedAgent,
  aLiveClient,
  anAgent,
  anAgentUnder,
  bringMoney,
  bodyOf,
  type TestClient,
} from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ temporal: true })
const { client, auditOf, eventsOf, get, becomes, aWaiting, temporal } = await intentRunsIn(service)
const open = await startTestService({ temporal: true, env: { OPERATOR_SIGNALS: 'true' } })

const verbs = Object.keys(intentSignals)

describe('a signal', () => {
  test('to approve: the record follows', async () => {
    const { intent, run } = await aWaiting()
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
    await run.says('Signal approve by Ada Lovelace: done.')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'approved' })
    expect(await run.status()).toBe('RUNNING')
  })

  test('to deny: the record follows, and the run ends', async () => {
    const [wordless, explained] = [await aWaiting(), await aWaiting()]
    await wordless.run.signal('deny', { by: 'Ada' })
    await explained.run.signal('deny', { by: 'Ada', reason: 'Too expensive' })
    expect(await wordless.run.ends()).toBe('denied')
    expect(await explained.run.ends()).toBe('denied')
    const decidedBy = { type: 'operator', id: null, name: 'Ada' }
    const comment = 'Denied by Ada'
    expect(await get(wordless.intent.id)).toMatchObject({ status: 'denied', decidedBy, comment })
    expect(await get(explained.intent.id)).toMatchObject({
      status: 'denied',
      decidedBy,
      comment: 'Too expensive',
    })
    expect((await auditOf(explained.intent.id))[0]).toBe('intent.denied by operator Ada')
  })

  test('to cancel: the record follows, and the run ends', async () => {
    const { intent, run } = await aWaiting()
    await run.signal('cancel', { by: 'Ada', comment: 'Sold out' })
    expect(await run.ends()).toBe('cancelled')
    expect(await get(intent.id)).toMatchObject({
      status: 'cancelled',
      decidedBy: null,
      comment: 'Sold out',
    })
    expect((await auditOf(intent.id))[0]).toBe('intent.cancelled by operator Ada')
  })

  test('that comes second changes nothing and says so', async () => {
    const { intent, run } = await aWaiting()
    const approved = await bodyOf(client.intents.approve({ params: { id: intent.id } }))
    await run.signal('approve', { by: 'Ada' })
    await run.says('The signal approve by Ada changed nothing: The intent is approved already.')
    await run.signal('deny', { by: 'Bob' })
    await run.says('The signal deny by Bob changed nothing: The intent is approved already.')
    const lines = [
      'The signal approve by Ada changed nothing: The intent is approved already.',
      'The signal deny by Bob changed nothing: The intent is approved already.',
    ]
    expect(await run.timeline()).toEqual(lines)
    expect(await get(intent.id)).toEqual(approved)
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.approved'])
  })

  test('that comes first makes the request the second', async () => {
    const { intent, run, params } = await aWaiting()
    await run.signal('approve', { by: 'Ada' })
    await becomes(intent.id, 'approved')
    const late = await client.intents.approve({ params })
    expect(late).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    expect(late.error).toBe('The intent is approved already.')
  })

  test('and a request at once: one of them counts, and all places agree', async () => {
    const waiting = await Promise.all(Array.from({ length: 5 }, () => aWaiting()))
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
      await run.says(`in test mode: ${status}`)
      expect(await run.attributes()).toMatchObject({ AgentPayStatus: status })
    }
  })

  test('in a burst is attended to in order, one after the other', async () => {
    const { intent, run } = await aWaiting()
    for (let count = 0; count < 5; count++) await run.signal('approve', { by: `Person ${count}` })
    await run.says('The signal approve by Person 4 changed nothing')
    expect((await get(intent.id)).decidedBy).toMatchObject({ name: 'Person 0' })
    await run.signal('cancel', { by: 'Person 9' })
    expect(await run.ends()).toBe('cancelled')
  })

  test('after the deadline changes nothing', async () => {
    const other = await service.owner()
    const { id } = await aFundedAgent(other.client)
    const { intent, run } = await aWaiting({ expiresInMinutes: 10 }, other.client, id)
    await service.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [other.ownerId, minutes(11)])
    await run.signal('approve', { by: 'Ada' })
    await run.ends()
    expect(await get(intent.id, other.client)).toMatchObject({ status: 'expired', decidedBy: null })
    expect(await run.details()).toMatch(/approve by Ada changed nothing: The (deadline|intent is expired)/)
    expect(await eventsOf(intent.id)).toEqual(['intent.created', 'intent.expired'])
  })

  test('does not stand in for a passkey', async () => {
    const { id } = await anAgentUnder(client, { requireAttestation: true })
    const { intent, run } = await aWaiting({}, client, id)
    await run.signal('approve', { by: 'Ada' })
    await run.says('changed nothing: The agent’s policy asks for an approval with a passkey.')
    expect((await get(intent.id)).status).toBe('created')
  })

  test('that is not what was asked for is ignored, which the page says', async () => {
    const wrong: Record<string, unknown[]> = {
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
    const ignored = async (verb: string, payloads: unknown[][]): Promise<void> => {
      const { intent, run } = await aWaiting()
      for (const payload of payloads) await run.signal(verb, ...payload)
      expect(await run.tells(payloads.length)).toEqual(
        payloads.map(() => expect.stringMatching(`^A signal ${verb} was ignored`)),
      )
      await run.says(`A signal ${verb} was ignored`)
      expect(await get(intent.id)).toEqual(intent)
      expect(await eventsOf(intent.id)).toEqual(['intent.created'])
      await run.signal('approve', { by: 'Ada' })
      await becomes(intent.id, 'approved')
      expect(await run.failedTasks()).toBe(0)
    }
    const wrongFor = (at: number) => Object.values(wrong).filter((_, n) => n % verbs.length === at)
    await Promise.all(verbs.map((verb, at) => ignored(verb, wrongFor(at))))
  })

  test('that cannot even be read is ignored as well, and no task is stuck', async () => {
    const illegible: Record<string, string> = {
      'json/plain': '{"by": ',
      'json/protobuf': '{"by":"Ada"}',
      'binary/encrypted': '\u0001\u0002',
      'binary/plain': 'Ada',
      '': '{"by":"Ada"}',
    }
    const { intent, run } = await aWaiting()
    for (const [encoding, data] of Object.entries(illegible)) {
      const metadata = encoding ? { encoding: Buffer.from(encoding) } : {}
      const payload = { metadata, data: Buffer.from(data) }
      for (const signalName of ['approve', RECORD_CHANGED, LOOK_AGAIN])
        for (const payloads of [[payload], [payload, payload]])
          await temporal.client.workflowService.signalWorkflowExecution({
            namespace: 'default',
            workflowExecution: { workflowId: String(intent.workflowId) },
            signalName,
            input: { payloads },
          })
    }
    const approvals = 2 * Object.keys(illegible).length
    expect(await run.tells(approvals)).toEqual(
      Array(approvals).fill(expect.stringMatching(/^A signal approve was ignored/)),
    )
    expect(await get(intent.id)).toEqual(intent)
    await run.signal('deny', { by: 'Ada' })
    expect(await run.ends()).toBe('denied')
    expect(await run.failedTasks()).toBe(0)
  })

  test('that nobody knows is let lie, which the page says', async () => {
    const { intent, run } = await aWaiting()
    await run.signal('complete', { by: 'Ada' })
    await run.says('A signal complete was ignored: no such signal is known.')
    await run.signal('deny', { by: 'Ada' })
    expect(await run.ends()).toBe('denied')
    expect(await run.failedTasks()).toBe(0)
    expect((await get(intent.id)).status).toBe('denied')
  })
})

describe('live money', () => {
  async function aLive(
    of: typeof service,
  ): Promise<{ live: TestClient; waiting: Awaited<ReturnType<typeof aWaiting>> }> {
    const live = await aLiveClient(of, await of.owner())
    const agent = await anAgent(live)
    await bringMoney(of, agent)
    return { live, waiting: await aWaiting({}, live, agent.id) }
  }

  test('is not decided by a signal', async () => {
    const { live, waiting } = await aLive(service)
    for (const verb of ['approve', 'deny', 'cancel']) {
      await waiting.run.signal(verb, { by: 'Ada' })
      await waiting.run.says(`A signal ${verb} was ignored: OPERATOR_SIGNALS is off, and this is live money.`)
    }
    expect(await get(waiting.intent.id, live)).toEqual(waiting.intent)
    await bodyOf(live.intents.deny({ params: waiting.params, body: { reason: 'No' } }))
    expect(await waiting.run.ends()).toBe('denied')
  })

  test('is, where the installation says so', async () => {
    const { live, waiting } = await aLive(open)
    await waiting.run.signal('approve', { by: 'Ada' })
    await becomes(waiting.intent.id, 'approved', live)
    expect((await auditOf(waiting.intent.id, live))[0]).toBe('intent.approved by operator Ada')
  })
})
