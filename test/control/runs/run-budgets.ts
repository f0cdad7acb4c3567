import { describe, expect, test } from '@jest/globals'
import { clientAt } from '../../support/client.ts'
import { agentRunsIn, timelineOf, within } from '../../support/control/agent-runs.ts'
import { anAgent, aRun, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent } = agentRunsIn(service)

describe('the budget of a run', () => {
  const declareAll = (client: TestClient, agentId: string, members: readonly object[], runId: string) =>
    Promise.all(
      members.map((member, n) =>
        client.intents.create({
          ...within(runId),
          body: { agentId, amountEuros: 1, merchant: `Shop ${n}`, purpose: 'A paper', ...member },
        }),
      ),
    )

  test('is fully used and never exceeded by a hundred concurrent intents on two processes', async () => {
    const { client, key, agent } = await anOwnerWithAgent()
    const run = await aRun(client, agent.id, { budgetEuros: 7 })
    const secondClient = clientAt({ url: await service.another(), token: key })
    const answersOfBoth = await Promise.all(
      [client, secondClient].map(each => declareAll(each, agent.id, Array(50).fill({}), run.id)),
    )
    // Both processes have declared the same fifty merchants, so there are duplicates.
    const answers = answersOfBoth.flat().map(({ body }) => body)
    const approved = answers.filter(({ status }) => status === 'approved')
    expect(approved).toHaveLength(7)
    const denied = answers.filter(({ status }) => status === 'denied')
    // A duplicate waits for a person as long as there is money in the budget.
    expect(denied.length).toBeGreaterThanOrEqual(86)
    for (const { decision } of denied) {
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
    expect((await bodyOf(client.runs.get({ params: run }))).heldEuros).toBe(7)
  })

  test('counts what is held, gets back what is cancelled, and limits approvals by persons too', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id, { budgetEuros: 100 })
    const heldEuros = async () => (await bodyOf(client.runs.get({ params }))).heldEuros
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
    await bodyOf(client.runs.update({ params, body: { budgetEuros: 120 } }))
    expect((await approve(second)).body.status).toBe('approved')
    await bodyOf(client.intents.cancel({ params: { id: String(first?.id) }, body: {} }))
    expect(await heldEuros()).toBe(60)
    await bodyOf(client.runs.update({ params, body: { budgetEuros: 10 } }))
    const [third] = await declareAll(client, agent.id, [{}], params.id)
    expect(third?.body.status).toBe('denied')
    expect(await heldEuros()).toBe(60)
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(await heldEuros()).toBe(0)
    const ofRun = await bodyOf(client.intents.list({ query: { runId: params.id } }))
    expect(ofRun.data.map(({ runId }) => runId)).toEqual(Array(3).fill(params.id))
  })

  test('approves nothing once the run has ended, and approved intents are still paid', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id)
    const [approved, waiting] = (
      await declareAll(client, agent.id, [{}, { amountEuros: 60 }], params.id)
    ).map(({ body }) => body)
    await bodyOf(client.runs.complete({ params, body: {} }))
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'Late', purpose: 'A paper', runId: params.id }
    expect(await client.intents.create({ body })).toMatchObject({ status: 400, code: 'run_ended' })
    const late = await client.intents.approve({ params: { id: String(waiting?.id) }, body: {} })
    expect(late).toMatchObject({ status: 400, code: 'run_ended' })
    expect((await bodyOf(client.runs.get({ params }))).heldEuros).toBe(1)
    await bodyOf(client.intents.cancel({ params: { id: String(approved?.id) }, body: {} }))
    expect((await bodyOf(client.runs.get({ params }))).heldEuros).toBe(0)
  })

  test('ends with the run, in the middle of a burst', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = await aRun(client, agent.id)
    const [answers, ended] = await Promise.all([
      declareAll(client, agent.id, Array(40).fill({}), params.id),
      client.runs.fail({ params, body: { reason: 'Enough' } }),
    ])
    expect(ended.status).toBe(200)
    for (const { status, code } of answers)
      expect([201, 'run_ended', 'invalid_run']).toContain(status === 201 ? status : code)
    // Both rows are written while the agent is locked, so their order is the order in which they happened.
    const entries = await timelineOf(client, params.id)
    expect(entries.at(-1)?.event).toBe('run.failed')
    expect(entries.filter(({ event }) => event === 'intent.approved')).toHaveLength(
      answers.filter(({ status }) => status === 201).length,
    )
  })

  test('belongs to the run that header or body name, which must be one run of the agent', async () => {
    const { client, agent, tokenClient } = await anOwnerWithAgent()
    const [run, other] = [await aRun(client, agent.id), await aRun(client, agent.id)]
    const foreign = await aRun(client, (await anAgent(client)).id)
    const body = { agentId: agent.id, amountEuros: 1, merchant: 'Bookshop', purpose: 'A paper' }
    const both = await tokenClient.intents.create({ ...within(run.id), body: { ...body, runId: other.id } })
    expect(both).toMatchObject({ status: 400, code: 'run_mismatch' })
    const refused = [
      await client.intents.create({ body: { ...body, runId: foreign.id } }),
      await client.intents.create({ ...within(foreign.id), body }),
      await client.intents.create({ body: { ...body, runId: 'run_of_nobody' } }),
    ]
    for (const answer of refused) expect(answer).toMatchObject({ status: 404, code: 'run_not_found' })
    const same = await tokenClient.intents.create({ ...within(run.id), body: { ...body, runId: run.id } })
    expect(same.body.runId).toBe(run.id)
    const [first] = await declareAll(client, agent.id, [{ merchant: 'Bookshop' }], other.id)
    expect(first?.body.possibleDuplicateOf).toBe(null)
    const [duplicate] = await declareAll(client, agent.id, [{ merchant: 'Bookshop' }], other.id)
    expect(duplicate?.body).toMatchObject({ status: 'created', possibleDuplicateOf: first?.body.id })
  })
})

test('a timeline is read by its index, however much else has happened', async () => {
  const { client, agent } = await anOwnerWithAgent()
  const run = await aRun(client, agent.id)
  await service.sql(
    `insert into events (id, owner_id, mode, actor_type, action, event, data, outcome, resource_id, request_id, created_at,
       recorded_at)
     select first_id_at('event', now()) || lpad(n::text, 16, '0'), $1, 'test', 'key', 'x.y', 'x.y', '{}', 'done', 'x', 'x',
       now(), now() from generate_series(1, 20000) n`,
    [run.ownerId],
  )
  const plan = await service.sql<{ 'QUERY PLAN': string }>(
    `explain select id from events where (owner_id, mode, run_id) = ($1, 'test', $2) and id > '' order by id limit 21`,
    [run.ownerId, run.id],
  )
  const text = plan.map(row => row['QUERY PLAN']).join('\n')
  expect(text).toMatch(/ (using|on) events_\w+_run_id/)
  expect(text).not.toContain('Seq Scan')
  expect(await timelineOf(client, run.id)).toHaveLength(1)
})
