import { describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import { client as clientOf } from '../../src/derive/client.ts'
import {
  aDeletedAgent,
  aFundedAgent,
  anAgent,
  anAgentUnder,
  anIntent,
  aRun,
  aToken,
  made,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { traceOf, transactionsOf } from '../support/trace.ts'

const house = await startHouse()

async function anOwnerWithAgent(rules = { autoApproveLimitEuros: 50 }) {
  const owner = await house.owner()
  const agent = await anAgentUnder(owner.client, rules)
  const itself = house.client(String((await aToken(owner.client, agent.id)).token))
  return { ...owner, agent, itself }
}

const within = (runId: string) => ({ headers: { 'x-run-id': runId } })

/** The events of a run, all pages, the oldest first. */
async function timelineOf(client: TestClient, id: string, limit = 100) {
  const entries = []
  for (let cursor: string | undefined; ; ) {
    const query = cursor ? { limit, cursor } : { limit }
    const page = await made(client.runs.timeline({ params: { id }, query }))
    entries.push(...page.data)
    if (!page.nextCursor) return entries
    cursor = page.nextCursor
  }
}

describe('a run', () => {
  test('is started with its event, and goes on', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const body = { agentId: agent.id, name: 'Review', externalId: 'r-1', budgetEuros: 12.5 }
    const answer = await client.runs.create({ body })
    expect(answer).toMatchObject({ status: 201 })
    expect(answer.body).toEqual({
      ...body,
      id: expect.stringMatching(/^run_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      delegationId: null,
      status: 'running',
      heldEuros: 0,
      spentEuros: 0,
      comment: null,
      reason: null,
      endedAt: null,
      metadata: {},
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(await traceOf(house, answer)).toEqual({
      events: ['run.created'],
      actions: ['runs.create'],
      entries: 1,
    })
    expect(await transactionsOf(house, answer, 'runs', answer.body.id)).toBe(1)
    expect((await client.runs.get({ params: answer.body })).body).toEqual(answer.body)
    const query = { externalId: 'r-1' }
    expect((await client.runs.list({ query })).body.data).toEqual([answer.body])
  })

  test('has a name of yours that no other run of the agent has, whoever comes first', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const body = { agentId: agent.id, name: 'Review', externalId: 'once' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.runs.create({ body })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, 'external_id_taken']))
    const other = await anAgent(client)
    expect((await client.runs.create({ body: { ...body, agentId: other.id } })).status).toBe(201)
  })

  test('is started by the agent itself, for itself only', async () => {
    const { client, agent, itself } = await anOwnerWithAgent()
    const own = await aRun(itself, agent.id)
    const other = await anAgent(client)
    const body = { agentId: other.id, name: 'Theirs' }
    expect(await itself.runs.create({ body })).toMatchObject({ status: 404, code: 'agent_not_found' })
    await aRun(client, other.id)
    expect((await made(itself.runs.list())).data.map(({ id }) => id)).toEqual([own.id])
    const stranger = await house.owner()
    expect((await stranger.client.runs.get({ params: own })).code).toBe('run_not_found')
    const update = { params: own, body: { budgetEuros: 1_000 } }
    expect(await itself.runs.update(update)).toMatchObject({ status: 403, code: 'wrong_caller' })
  })

  test('ends once: completed or failed, by one of many', async () => {
    const { client, agent, itself } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id)
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => client.runs.complete({ params, body: { comment: 'Done' } })),
      ...Array.from({ length: 4 }, () => itself.runs.fail({ params, body: { reason: 'No' } })),
    ])
    const [ended, ...more] = answers.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    expect(ended?.body).toMatchObject(
      ended?.body.status === 'completed'
        ? { comment: 'Done', reason: null, endedAt: expect.any(String) }
        : { comment: null, reason: 'No', endedAt: expect.any(String) },
    )
    const refused = answers.filter(({ code }) => code === 'run_not_running')
    expect(refused).toHaveLength(7)
    const update = await client.runs.update({ params, body: { name: 'Later' } })
    expect(update).toMatchObject({ status: 400, code: 'run_not_running' })
    expect((await made(client.runs.get({ params }))).name).toBe('Literature review')
  })

  test('gets another name and another budget, or none', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id, { budgetEuros: 5 })
    const answer = await client.runs.update({ params, body: { budgetEuros: 7, name: 'More' } })
    expect(answer.body).toMatchObject({ budgetEuros: 7, name: 'More' })
    expect(await traceOf(house, answer)).toMatchObject({ events: ['run.updated'] })
    expect((await made(client.runs.update({ params, body: { budgetEuros: null } }))).budgetEuros).toBe(null)
  })

  test('is of an agent that is there, and fails when that goes', async () => {
    const { client } = await house.owner()
    const gone = await aDeletedAgent(client)
    const body = { agentId: gone.id, name: 'Late' }
    expect(await client.runs.create({ body })).toMatchObject({ status: 404, code: 'agent_not_found' })
    const agent = await anAgent(client)
    const params = await aRun(client, agent.id)
    await made(client.agents.delete({ params: agent }))
    await made(client.sandbox.advance({ body: { minutes: 1 } }))
    const reason = 'The agent is being deleted.'
    expect((await client.runs.get({ params })).body).toMatchObject({ status: 'failed', reason })
  })
})

describe('X-Run-Id', () => {
  test('puts into the timeline what requests have changed, in order, page by page', async () => {
    const { client, agent, itself } = await anOwnerWithAgent()
    const run = await aRun(client, agent.id)
    const intent = { agentId: agent.id, merchant: 'Bookshop', purpose: 'A paper' }
    const first = await made(
      itself.intents.create({ ...within(run.id), body: { ...intent, amountEuros: 4.5 } }),
    )
    await made(itself.agents.get({ ...within(run.id), params: agent }))
    await anIntent(client, agent.id)
    const second = await made(
      client.intents.create({ ...within(run.id), body: { ...intent, amountEuros: 60 } }),
    )
    // Decided by a person, whose request says nothing of the run.
    await made(client.intents.approve({ params: second, body: {} }))
    await made(itself.intents.cancel({ ...within(run.id), params: first, body: {} }))
    await made(itself.runs.complete({ ...within(run.id), params: run, body: {} }))
    for (const limit of [100, 3]) {
      const entries = await timelineOf(client, run.id, limit)
      expect(entries.map(({ event, amountEuros }) => [event, amountEuros])).toEqual([
        ['run.created', null],
        ['intent.created', 4.5],
        ['intent.approved', 4.5],
        ['intent.created', 60],
        ['intent.approved', 60],
        ['intent.cancelled', 4.5],
        ['run.completed', null],
      ])
      expect(entries.map(({ actorType }) => actorType).join(' ')).toBe('key agent agent key key agent agent')
    }
    const events = await made(client.events.list({ query: { event: 'intent.cancelled' } }))
    expect(events.data.map(({ runId }) => runId)).toEqual([run.id])
    const audit = await made(client.audit.list({ query: { action: 'runs.complete' } }))
    expect(audit.data.map(({ runId }) => runId)).toEqual([run.id])
  })

  test('names a run of the caller that goes on, or nothing is done', async () => {
    const { client, agent, itself } = await anOwnerWithAgent()
    const stranger = await anOwnerWithAgent()
    const foreign = await aRun(stranger.client, stranger.agent.id)
    const other = await aRun(client, (await anAgent(client)).id)
    const over = await aRun(client, agent.id)
    await made(client.runs.complete({ params: over, body: {} }))
    const wrong: [TestClient, string, RegExp][] = [
      [client, foreign.id, /no such run/],
      [client, 'run_01jd8x2m4ye7k9v0c3q5r6t8wz', /no such run/],
      [client, `' or 1=1`, /no such run/],
      [client, '', /no such run/],
      [client, 'x'.repeat(4_000), /no such run/],
      [itself, other.id, /no such run/],
      [client, over.id, /has ended/],
      [itself, over.id, /has ended/],
    ]
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'A paper' }
    for (const [by, runId, message] of wrong) {
      for (const answer of [
        await by.intents.create({ ...within(runId), body }),
        await by.runs.create({ ...within(runId), body: { agentId: agent.id, name: 'Inner' } }),
        await by.agents.list(within(runId)),
      ]) {
        expect(answer).toMatchObject({ status: 400, code: 'invalid_run' })
        expect(answer.error).toMatch(/^X-Run-Id: /)
        expect(answer.error).toMatch(message)
      }
    }
    expect((await made(client.intents.list())).data).toEqual([])
    expect((await made(client.runs.list({ query: { agentId: agent.id } }))).data).toHaveLength(1)
  })

  test('of a run that has ended still gets the answers that were given before', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const run = await aRun(client, agent.id)
    const declare = {
      ...within(run.id),
      idempotencyKey: 'declare',
      body: { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'A paper' },
    }
    const complete = { ...within(run.id), idempotencyKey: 'complete', params: run, body: {} }
    const before = [await client.intents.create(declare), await client.runs.complete(complete)]
    const again = [await client.intents.create(declare), await client.runs.complete(complete)]
    expect(again.map(({ status, body }) => ({ status, body }))).toEqual(
      before.map(({ status, body }) => ({ status, body })),
    )
    const fresh = { ...declare, idempotencyKey: 'another' }
    expect((await client.intents.create(fresh)).code).toBe('invalid_run')
  })

  test('means nothing where nobody says who he is', async () => {
    expect((await house.client().health.health(within('run_of_nobody'))).status).toBe(200)
  })
})

describe('the budget of a run', () => {
  /** As many intents at once, no two alike. */
  const declareAll = (client: TestClient, agentId: string, members: readonly object[], runId: string) =>
    Promise.all(
      members.map((one, n) =>
        client.intents.create({
          ...within(runId),
          body: { agentId, amountEuros: 1, merchant: `Shop ${n}`, purpose: 'A paper', ...one },
        }),
      ),
    )

  test('lets exactly so many of a hundred at once pass, on two processes', async () => {
    const { client, key, agent } = await anOwnerWithAgent()
    const run = await aRun(client, agent.id, { budgetEuros: 7 })
    const elsewhere = clientOf(areas, { url: await house.another(), token: key })
    const both = await Promise.all(
      [client, elsewhere].map(one => declareAll(one, agent.id, Array(50).fill({}), run.id)),
    )
    // The two have each declared the same fifty.
    const answers = both.flat().map(({ body }) => body)
    const passed = answers.filter(({ status }) => status === 'approved')
    expect(passed).toHaveLength(7)
    for (const { decision } of answers.filter(({ status }) => status === 'denied')) {
      expect(decision.reason).toBe(
        'The budget of the run Literature review of € 7.00 is reached: € 7.00 used, € 0.00 left.',
      )
      expect(decision.checks.find(({ rule }) => rule === 'budget')).toMatchObject({
        outcome: 'fail',
        limit: 7,
        used: 7,
        remaining: 0,
      })
    }
    expect((await made(client.runs.get({ params: run }))).heldEuros).toBe(7)
  })

  test('counts what is held, gives back what is let go, and holds for persons too', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id, { budgetEuros: 100 })
    const heldEuros = async () => (await made(client.runs.get({ params }))).heldEuros
    const [first, second] = (
      await declareAll(client, agent.id, [{ amountEuros: 60 }, { amountEuros: 60 }], params.id)
    ).map(({ body }) => body)
    expect([first?.status, second?.status, await heldEuros()]).toEqual(['created', 'created', 0])
    const approve = (intent: typeof first) =>
      client.intents.approve({ params: { id: String(intent?.id) }, body: {} })
    expect((await approve(first)).body.status).toBe('approved')
    const refused = await approve(second)
    expect(refused).toMatchObject({ status: 400, code: 'against_policy' })
    expect(refused.error).toContain('budget of the run Literature review of € 100.00 is too low for € 60.00')
    expect(await heldEuros()).toBe(60)
    await made(client.runs.update({ params, body: { budgetEuros: 120 } }))
    expect((await approve(second)).body.status).toBe('approved')
    await made(client.intents.cancel({ params: { id: String(first?.id) }, body: {} }))
    expect(await heldEuros()).toBe(60)
    await made(client.runs.update({ params, body: { budgetEuros: 10 } }))
    const [third] = await declareAll(client, agent.id, [{}], params.id)
    expect(third?.body.status).toBe('denied')
    expect(await heldEuros()).toBe(60)
    await made(client.sandbox.advance({ body: { days: 1 } }))
    expect(await heldEuros()).toBe(0)
    const ofRun = await made(client.intents.list({ query: { runId: params.id } }))
    expect(ofRun.data.map(({ runId }) => runId)).toEqual(Array(3).fill(params.id))
  })

  test('of a run that has ended approves nothing more, and what was approved goes its way', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id)
    const [approved, waiting] = (
      await declareAll(client, agent.id, [{}, { amountEuros: 60 }], params.id)
    ).map(({ body }) => body)
    await made(client.runs.complete({ params, body: {} }))
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'Late', purpose: 'A paper', runId: params.id }
    expect(await client.intents.create({ body })).toMatchObject({ status: 400, code: 'run_over' })
    const late = await client.intents.approve({ params: { id: String(waiting?.id) }, body: {} })
    expect(late).toMatchObject({ status: 400, code: 'run_over' })
    expect((await made(client.runs.get({ params }))).heldEuros).toBe(1)
    await made(client.intents.cancel({ params: { id: String(approved?.id) }, body: {} }))
    expect((await made(client.runs.get({ params }))).heldEuros).toBe(0)
  })

  test('ends with the run, however many are being declared', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id)
    const [answers, ended] = await Promise.all([
      declareAll(client, agent.id, Array(40).fill({}), params.id),
      client.runs.fail({ params, body: { reason: 'Enough' } }),
    ])
    expect(ended.status).toBe(200)
    for (const { status, code } of answers)
      expect([201, 'run_over', 'invalid_run']).toContain(status === 201 ? status : code)
    // Both are noted while the agent is held: their order is the one in which they happened.
    const entries = await timelineOf(client, params.id)
    expect(entries.at(-1)?.event).toBe('run.failed')
    expect(entries.filter(({ event }) => event === 'intent.approved')).toHaveLength(
      answers.filter(({ status }) => status === 201).length,
    )
  })

  test('is that of the header or of the body, of one run and of the agent', async () => {
    const { client, agent, itself } = await anOwnerWithAgent()
    const [run, other] = [await aRun(client, agent.id), await aRun(client, agent.id)]
    const foreign = await aRun(client, (await anAgent(client)).id)
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'A paper' }
    const both = await itself.intents.create({ ...within(run.id), body: { ...body, runId: other.id } })
    expect(both).toMatchObject({ status: 400, code: 'run_mismatch' })
    const wrong = [
      await client.intents.create({ body: { ...body, runId: foreign.id } }),
      await client.intents.create({ ...within(foreign.id), body }),
      await client.intents.create({ body: { ...body, runId: 'run_of_nobody' } }),
    ]
    for (const answer of wrong) expect(answer).toMatchObject({ status: 400, code: 'run_not_found' })
    const same = await itself.intents.create({ ...within(run.id), body: { ...body, runId: run.id } })
    expect(same.body.runId).toBe(run.id)
    const [twin] = await declareAll(client, agent.id, [{ merchant: 'Bookshop' }], other.id)
    expect(twin?.body.possibleDuplicateOf).toBe(null)
    const [double] = await declareAll(client, agent.id, [{ merchant: 'Bookshop' }], other.id)
    expect(double?.body).toMatchObject({ status: 'created', possibleDuplicateOf: twin?.body.id })
  })
})

test('a timeline is found by its index, however much else has happened', async () => {
  const { client, agent } = await anOwnerWithAgent()
  const run = await aRun(client, agent.id)
  await house.sql(
    `insert into audit_entries (id, owner_id, mode, actor_type, action, event, outcome, resource_id, request_id, at)
     select 'audit_' || n, $1, 'test', 'key', 'x.y', 'x.y', 'done', 'x', 'x', now() from generate_series(1, 20000) n`,
    [run.ownerId],
  )
  await house.sql('analyze audit_entries')
  const plan = await house.sql<{ 'QUERY PLAN': string }>(
    `explain select id from audit_entries a where (a.owner_id, a.mode, a.run_id) = ($1, 'test', $2) and a.id > ''
     order by a.id limit 21`,
    [run.ownerId, run.id],
  )
  expect(plan.map(row => row['QUERY PLAN']).join('\n')).toContain('audit_by_run')
  expect(await timelineOf(client, run.id)).toHaveLength(1)
})

test('a funded agent without a run has none in its intents', async () => {
  const { client } = await house.owner()
  const agent = await aFundedAgent(client)
  expect((await anIntent(client, agent.id)).runId).toBe(null)
})
