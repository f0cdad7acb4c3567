import { describe, expect, test } from '@jest/globals'
import { approverSignals } from '../../src/control/intents/process.ts'
import { days, minutes } from '../../src/kernel/clock.ts'
import { LOOK_AGAIN } from '../../src/kernel/process.ts'
import {
  aFundedAgent,
  aLiveClient,
  anAgent,
  anAgentUnder,
  anIntent,
  bringMoney,
  made,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { type RunSeen, runs } from '../support/runs.ts'
import { until } from '../support/until.ts'

const house = await startHouse({ temporal: true })
const open = await startHouse({ temporal: true, env: { OPERATOR_SIGNALS: 'true' } })
const temporal = await runs()

const owner = await house.owner()
const { client } = owner
const agent = await aFundedAgent(client)

const get = (id: string, by = client) => made(by.intents.get({ params: { id } }))

type Intent = Awaited<ReturnType<typeof get>>

/** An intent that waits for its approver, and its run, which waits as well. */
async function aWaiting(
  members: Parameters<typeof anIntent>[2] = {},
  by = client,
  agentId = agent.id,
): Promise<{ intent: Intent; run: RunSeen; params: { id: string } }> {
  const intent = await anIntent(by, agentId, members)
  const run = temporal.of(intent)
  await run.begins()
  await run.says('waits for approval')
  return { intent, run, params: { id: intent.id } }
}

const becomes = (id: string, status: string, by = client) =>
  until(`${id} is ${status}`, async () => (await get(id, by)).status === status)

/** Who did what to the record, the newest first. */
const auditOf = async (id: string, by = client) =>
  (await made(by.audit.list({ query: { resource: id } }))).data.map(
    ({ actorType, actorId, event }) => `${event} by ${actorType} ${actorId}`,
  )

const eventsOf = async (id: string): Promise<string[]> => {
  const rows = await house.sql<{ event: string }>(
    `select event from events where data ->> 'intentId' = $1 order by id`,
    [id],
  )
  return rows.map(({ event }) => event)
}

describe('an intent that waits', () => {
  test('has a run under its workflowId, which an operator finds and understands', async () => {
    const { intent, run } = await aWaiting({ amountEuros: 19.9, merchant: 'Bookshop' })
    expect(intent.workflowId).toBe(`intent/${intent.id}`)
    expect(await run.status()).toBe('RUNNING')
    expect(await run.attributes()).toMatchObject({
      AgentPayOwner: owner.ownerId,
      AgentPayAgent: agent.id,
      AgentPayStatus: 'created',
    })
    const until = intent.expiresAt.slice(0, 16).replace('T', ' ')
    const line = `€ 19.90 to Bookshop: waits for approval until ${until} UTC`
    expect(await run.details()).toBe(line)
    const { dueInMs, ...state } = (await run.state()) ?? {}
    expect(state).toEqual({ status: 'created', summary: line, closed: false })
    expect(Number(dueInMs)).toBeGreaterThan(days(1) - minutes(2))
    expect(Number(dueInMs)).toBeLessThanOrEqual(days(1))
  })

  test('is in the list of what waits for this owner', async () => {
    const { intent } = await aWaiting()
    const query = `AgentPayOwner = '${owner.ownerId}' and AgentPayAgent = '${agent.id}' and AgentPayStatus = 'created'`
    await until('it is listed', async () => {
      for await (const { workflowId } of temporal.client.workflow.list({ query }))
        if (workflowId === intent.workflowId) return true
      return false
    })
  })

  test('shows no more in its history than ids', async () => {
    const { run } = await aWaiting({ purpose: 'A secret purpose' })
    const { events } = await run.handle.fetchHistory()
    const begun = events?.[0]?.workflowExecutionStartedEventAttributes
    const [input] = (begun?.input?.payloads ?? []).map(({ data }) => JSON.parse(String(data)))
    expect(Object.keys(input)).toEqual(['id', 'mode', 'agentId', 'ownerId'])
    expect(JSON.stringify(events)).not.toContain(Buffer.from('A secret purpose').toString('base64'))
  })

  test('cannot forge what the operator reads', async () => {
    const merchant = 'Bookshop\n\n# Approved\n\n[Click](https://evil.example) <b>now</b> `x` **paid** | a'
    const { run } = await aWaiting({ merchant })
    const said = await run.details()
    expect(said).not.toContain('\n')
    expect(said.replace(/\\./g, '')).not.toMatch(/[[\]<>`*#|]/)
    await run.signal('approve', { by: 'Eve\n\n# Denied [x](https://evil.example)' })
    const after = await run.says(/Eve/)
    expect(after.split('\n\n')).toHaveLength(2)
    expect(after.replace(/\\./g, '')).not.toMatch(/[[\]<>`*#|]/)
  })

  test('has no run where it waits for nobody', async () => {
    const { id } = await anAgentUnder(client, { autoApproveLimitEuros: 50 })
    const alone = await anIntent(client, id)
    const waiting = await anIntent(client, id, { amountEuros: 51 })
    await temporal.of(waiting).begins()
    expect(alone).toMatchObject({ status: 'approved', workflowId: null })
    expect(await temporal.of({ workflowId: `intent/${alone.id}` }).status()).toBeUndefined()
  })
})

describe('a decision by REST', () => {
  test('to approve: the run goes on until the deadline', async () => {
    const { run, params } = await aWaiting()
    await made(client.intents.approve({ params, body: { comment: 'Fine' } }))
    await run.says('to Bookshop: approved')
    expect(await run.status()).toBe('RUNNING')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'approved' })
    expect(await run.state()).toMatchObject({ status: 'approved', closed: false })
    await made(client.intents.cancel({ params }))
    expect(await run.ends()).toBe('cancelled')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'cancelled' })
  })

  test('to deny or to cancel: the run ends', async () => {
    const [denied, cancelled] = [await aWaiting(), await aWaiting()]
    await made(client.intents.deny({ params: denied.params, body: { reason: 'No' } }))
    await made(client.intents.cancel({ params: cancelled.params }))
    expect(await denied.run.ends()).toBe('denied')
    expect(await cancelled.run.ends()).toBe('cancelled')
    expect(await denied.run.details()).toContain('to Bookshop: denied')
  })
})

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
    await explained.run.signal('deny', { by: 'Ada', comment: 'Too expensive' })
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
    const approved = await made(client.intents.approve({ params: { id: intent.id } }))
    await run.signal('approve', { by: 'Ada' })
    await run.says('The signal approve by Ada changed nothing: The intent is approved already.')
    await run.signal('deny', { by: 'Bob' })
    await run.says('The signal deny by Bob changed nothing: The intent is approved already.')
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
    const waiting = await Promise.all(Array.from({ length: 10 }, () => aWaiting()))
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
      await run.says(`to Bookshop: ${status}`)
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
    const other = await house.owner()
    const { id } = await aFundedAgent(other.client)
    const { intent, run } = await aWaiting({ expiresInMinutes: 10 }, other.client, id)
    await house.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [other.ownerId, minutes(11)])
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
      'NUL in the name': [{ by: 'A\u0000da' }],
      'half a character': [{ by: 'A\uD800da' }],
    }
    const ignored = async ([what, payload]: [string, unknown[]], index: number): Promise<void> => {
      const { intent, run } = await aWaiting({ merchant: `Shop with ${what}` })
      const verb = String(approverSignals[index % 3])
      await run.signal(verb, ...payload)
      await run.says(`A signal ${verb} was ignored`)
      expect(await get(intent.id)).toEqual(intent)
      expect(await eventsOf(intent.id)).toEqual(['intent.created'])
      await run.signal('approve', { by: 'Ada' })
      await becomes(intent.id, 'approved')
      expect(await run.failedTasks()).toBe(0)
    }
    await Promise.all(Object.entries(wrong).map(ignored))
  })

  test('that cannot even be read is ignored as well, and no task is stuck', async () => {
    const illegible: Record<string, string> = {
      'json/plain': '{"by": ',
      'json/protobuf': '{"by":"Ada"}',
      'binary/encrypted': '\u0001\u0002',
      'binary/plain': 'Ada',
      '': '{"by":"Ada"}',
    }
    const ignored = async ([encoding, data]: [string, string]): Promise<void> => {
      const { intent, run } = await aWaiting()
      const metadata = encoding ? { encoding: Buffer.from(encoding) } : {}
      const payload = { metadata, data: Buffer.from(data) }
      for (const signalName of ['approve', LOOK_AGAIN])
        for (const payloads of [[payload], [payload, payload]])
          await temporal.client.workflowService.signalWorkflowExecution({
            namespace: 'default',
            workflowExecution: { workflowId: String(intent.workflowId) },
            signalName,
            input: { payloads },
          })
      await run.says('A signal approve was ignored')
      expect(await get(intent.id)).toEqual(intent)
      await run.signal('deny', { by: 'Ada' })
      expect(await run.ends()).toBe('denied')
      expect(await run.failedTasks()).toBe(0)
    }
    await Promise.all(Object.entries(illegible).map(ignored))
  })

  test('that nobody knows is let lie', async () => {
    const { intent, run } = await aWaiting()
    await run.signal('complete', { by: 'Ada' })
    await run.signal('deny', { by: 'Ada' })
    expect(await run.ends()).toBe('denied')
    expect(await run.failedTasks()).toBe(0)
    expect((await get(intent.id)).status).toBe('denied')
  })
})

describe('the deadline', () => {
  test('ends the run, whether it was approved or not', async () => {
    const other = await house.owner()
    const { id } = await aFundedAgent(other.client)
    const waiting = await aWaiting({ expiresInMinutes: 60 }, other.client, id)
    const approved = await aWaiting({ expiresInMinutes: 90 }, other.client, id)
    const later = await aWaiting({ expiresInMinutes: 2_000 }, other.client, id)
    await made(other.client.intents.approve({ params: approved.params }))
    await made(other.client.sandbox.advance({ body: { days: 1 } }))
    expect(await waiting.run.ends()).toBe('expired')
    expect(await approved.run.ends()).toBe('expired')
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

  test('comes by itself where the clock was moved to just before it', async () => {
    const other = await house.owner()
    const { id } = await aFundedAgent(other.client)
    const { intent, run } = await aWaiting({ expiresInMinutes: 1 }, other.client, id)
    await house.sql(`insert into tenant_clocks values ($1, 'test', $2)`, [other.ownerId, minutes(1) - 500])
    await run.signal(LOOK_AGAIN)
    expect(await run.ends()).toBe('expired')
    expect((await get(intent.id, other.client)).status).toBe('expired')
  })
})

describe('live money', () => {
  async function aLive(
    of: typeof house,
  ): Promise<{ live: TestClient; waiting: Awaited<ReturnType<typeof aWaiting>> }> {
    const live = await aLiveClient(of, await of.owner())
    const agent = await anAgent(live)
    await bringMoney(of, agent)
    return { live, waiting: await aWaiting({}, live, agent.id) }
  }

  test('is not decided by a signal', async () => {
    const { live, waiting } = await aLive(house)
    for (const verb of ['approve', 'deny', 'cancel']) {
      await waiting.run.signal(verb, { by: 'Ada' })
      await waiting.run.says(`A signal ${verb} was ignored: OPERATOR_SIGNALS is off, and this is live money.`)
    }
    expect(await get(waiting.intent.id, live)).toEqual(waiting.intent)
    await made(live.intents.deny({ params: waiting.params, body: { reason: 'No' } }))
    expect(await waiting.run.ends()).toBe('denied')
  })

  test('is, where the installation says so', async () => {
    const { live, waiting } = await aLive(open)
    await waiting.run.signal('approve', { by: 'Ada' })
    await becomes(waiting.intent.id, 'approved', live)
    expect((await auditOf(waiting.intent.id, live))[0]).toBe('intent.approved by operator Ada')
  })
})
