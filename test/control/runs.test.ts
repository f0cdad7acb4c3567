import './runs/run-budgets.ts'
import { describe, expect, test } from '@jest/globals'
import { agentRunsIn, timelineOf, within } from '../support/control/agent-runs.ts'
import {
  aDeletedAgent,
  aFundedAgent,
  anAgent,
  anIntent,
  aRun,
  bodyOf,
  type TestClient,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { traceOf, transactionCount } from '../support/trace.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent } = agentRunsIn(service)

describe('a run', () => {
  test('is started with its event, and is running', async () => {
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
    expect(await traceOf(service, answer)).toEqual({
      events: ['run.created'],
      actions: ['runs.create'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'runs', answer.body.id)).toBe(1)
    expect((await client.runs.get({ params: answer.body })).body).toEqual(answer.body)
    const query = { externalId: 'r-1' }
    expect((await client.runs.list({ query })).body.data).toEqual([answer.body])
  })

  test('has an `externalId` that is unique for the agent, even among many at once', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const body = { agentId: agent.id, name: 'Review', externalId: 'once' }
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.runs.create({ body })))
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(new Set(answers.map(({ code }) => code))).toEqual(new Set([undefined, 'external_id_taken']))
    const other = await anAgent(client)
    expect((await client.runs.create({ body: { ...body, agentId: other.id } })).status).toBe(201)
  })

  test('is started by an agent’s token for that agent only', async () => {
    const { client, agent, tokenClient } = await anOwnerWithAgent()
    const own = await aRun(tokenClient, agent.id)
    const other = await anAgent(client)
    const body = { agentId: other.id, name: 'Theirs' }
    expect(await tokenClient.runs.create({ body })).toMatchObject({ status: 404, code: 'agent_not_found' })
    await aRun(client, other.id)
    expect((await bodyOf(tokenClient.runs.list())).data.map(({ id }) => id)).toEqual([own.id])
    const stranger = await service.owner()
    expect((await stranger.client.runs.get({ params: own })).code).toBe('run_not_found')
    const update = { params: own, body: { budgetEuros: 1_000 } }
    expect(await tokenClient.runs.update(update)).toMatchObject({ status: 403, code: 'wrong_caller' })
  })

  test('is completed or failed once, by one of many requests', async () => {
    const { client, agent, tokenClient } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id)
    const answers = await Promise.all([
      ...Array.from({ length: 4 }, () => client.runs.complete({ params, body: { comment: 'Done' } })),
      ...Array.from({ length: 4 }, () => tokenClient.runs.fail({ params, body: { reason: 'No' } })),
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
    expect((await bodyOf(client.runs.get({ params }))).name).toBe('Literature review')
  })

  test('can get another name and another budget, or none', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id, { budgetEuros: 5 })
    const answer = await client.runs.update({ params, body: { budgetEuros: 7, name: 'More' } })
    expect(answer.body).toMatchObject({ budgetEuros: 7, name: 'More' })
    expect(await traceOf(service, answer)).toMatchObject({ events: ['run.updated'] })
    expect((await bodyOf(client.runs.update({ params, body: { budgetEuros: null } }))).budgetEuros).toBe(null)
  })

  test('is refused for a missing agent, and fails when its agent is deleted', async () => {
    const { client } = await service.owner()
    const gone = await aDeletedAgent(client)
    const body = { agentId: gone.id, name: 'Late' }
    expect(await client.runs.create({ body })).toMatchObject({ status: 404, code: 'agent_not_found' })
    const agent = await anAgent(client)
    const params = await aRun(client, agent.id)
    await bodyOf(client.agents.delete({ params: agent }))
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    const reason = 'The agent is being deleted.'
    expect((await client.runs.get({ params })).body).toMatchObject({ status: 'failed', reason })
  })
})

describe('the header X-Run-Id', () => {
  test('puts what requests change into the timeline, in order, in complete pages', async () => {
    const { client, agent, tokenClient } = await anOwnerWithAgent()
    const run = await aRun(client, agent.id)
    const intent = { agentId: agent.id, merchant: 'Bookshop', purpose: 'A paper' }
    const first = await bodyOf(
      tokenClient.intents.create({ ...within(run.id), body: { ...intent, amountEuros: 4.5 } }),
    )
    await bodyOf(tokenClient.agents.get({ ...within(run.id), params: agent }))
    await anIntent(client, agent.id)
    const second = await bodyOf(
      client.intents.create({ ...within(run.id), body: { ...intent, amountEuros: 60 } }),
    )
    // A person approves; this request does not name the run.
    await bodyOf(client.intents.approve({ params: second, body: {} }))
    await bodyOf(tokenClient.intents.cancel({ ...within(run.id), params: first, body: {} }))
    await bodyOf(tokenClient.runs.complete({ ...within(run.id), params: run, body: {} }))
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
    const events = await bodyOf(client.events.list({ query: { event: 'intent.cancelled' } }))
    expect(events.data.map(({ runId }) => runId)).toEqual([run.id])
    const audit = await bodyOf(client.audit.list({ query: { action: 'runs.complete' } }))
    expect(audit.data.map(({ runId }) => runId)).toEqual([run.id])
  })

  test('is refused unless it names a running run of the caller', async () => {
    const { client, agent, tokenClient } = await anOwnerWithAgent()
    const stranger = await anOwnerWithAgent()
    const foreign = await aRun(stranger.client, stranger.agent.id)
    const other = await aRun(client, (await anAgent(client)).id)
    const over = await aRun(client, agent.id)
    await bodyOf(client.runs.complete({ params: over, body: {} }))
    const refused: [TestClient, string, RegExp][] = [
      [client, foreign.id, /no such run/],
      [client, 'run_01jd8x2m4ye7k9v0c3q5r6t8wz', /no such run/],
      [client, `' or 1=1`, /no such run/],
      [client, '', /no such run/],
      [client, 'x'.repeat(4_000), /no such run/],
      [tokenClient, other.id, /no such run/],
      [client, over.id, /has ended/],
      [tokenClient, over.id, /has ended/],
    ]
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'A paper' }
    for (const [by, runId, message] of refused) {
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
    expect((await bodyOf(client.intents.list())).data).toEqual([])
    expect((await bodyOf(client.runs.list({ query: { agentId: agent.id } }))).data).toHaveLength(1)
  })

  test('of a run that has ended still replays earlier responses', async () => {
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

  test('is ignored on public operations', async () => {
    expect((await service.client().health.health(within('run_of_nobody'))).status).toBe(200)
  })
})

test('an intent outside of a run has none', async () => {
  const { client } = await service.owner()
  const agent = await aFundedAgent(client)
  expect((await anIntent(client, agent.id)).runId).toBe(null)
})
