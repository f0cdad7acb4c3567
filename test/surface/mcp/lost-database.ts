import { describe, expect, test } from '@jest/globals'
import { aFundedAgent, aPolicy, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant } from '../../support/http/assistant.ts'
import { aHost } from '../../support/http/tasks.ts'

const service = await startTestService({ own: true })
const { client } = await service.owner()
const policy = await aPolicy(client, { autoApproveLimitEuros: 100 })
const { id: agentId } = await aFundedAgent(client, { policyId: policy.id })
const { token } = await aToken(client, agentId)
const { call } = await anAssistant(service.url, String(token))

/** The connection ends at this moment of the call. */
async function losing<T>(moment: string, work: () => Promise<T>): Promise<T> {
  await service.sql(`
    create function lose() returns trigger language plpgsql security definer as
      'begin perform pg_terminate_backend(pg_backend_pid()); return coalesce(new, old); end';
    create trigger lose before ${moment} for each row execute function lose()`)
  return work().finally(() => service.sql('drop function lose cascade'))
}

/** From the commit of the new intent on, the service may not read intents. */
async function unreadable<T>(work: () => Promise<T>): Promise<T> {
  await service.sql(`
    create function hide() returns trigger language plpgsql security definer as
      'begin revoke select on intents from agentpay_application; return null; end';
    create constraint trigger hide after insert on intents deferrable initially deferred
      for each row execute function hide()`)
  return work().finally(() =>
    service.sql('drop function hide cascade; grant select on intents to agentpay_application'),
  )
}

const intentsFor = async (merchant: string): Promise<number> =>
  (await bodyOf(client.intents.list({ query: { merchant } }))).data.length

describe('a database that is lost during a call of a tool', () => {
  test.each([
    ['before the operation', 'insert on tool_calls', {}, 'approved'],
    ['during the operation', 'insert on intents', {}, 'approved'],
    ['after a refusal', 'delete on tool_calls', { runId: 'run_01jd8x2m4ye7k9v0c3q5r6t8wz' }, 'run_not_found'],
  ])('%s is unavailable, and the model is told to look first', async (_, moment, members, decided) => {
    const merchant = `Shop ${moment}`
    const book = { amountEuros: 10, merchant, purpose: 'A book', ...members }
    const { isError, structuredContent } = await losing(moment, () => call('declare_intent', book))
    expect([isError, structuredContent.error]).toEqual([
      true,
      {
        code: 'unavailable',
        message: expect.stringMatching(/^The database cannot be reached\..*list_intents/),
        remedies: [],
      },
    ])
    expect(await intentsFor(merchant)).toBe(0)
    const again = await call('declare_intent', book)
    expect(again.structuredContent.status ?? again.structuredContent.error.code).toBe(decided)
  })

  test('is unavailable for a proposal, too', async () => {
    const wish = { operation: 'policies.toggle', input: { agentId, field: 'requireIntent', value: true } }
    const lost = await losing('insert on proposals', () => call('propose_change', wish))
    expect(lost.structuredContent.error).toMatchObject({ code: 'unavailable' })
  })

  test('leaves the answer of a tool that has committed, where its task cannot be read', async () => {
    const host = aHost(service.url, String(token))
    const given = { amountEuros: 200, merchant: 'Hidden shop', purpose: 'Many books' }
    const answer = await unreadable(() => host.call('declare_intent', given))
    expect(answer).toMatchObject({ structuredContent: { status: 'created', merchant: 'Hidden shop' } })
    expect(answer.isError).toBeUndefined()
    expect(answer.taskId).toBeUndefined()
    expect(await intentsFor('Hidden shop')).toBe(1)
  })

  test('is unavailable for the cancellation of a task, which can be repeated', async () => {
    const host = aHost(service.url, String(token))
    const { taskId } = await host.call('declare_intent', {
      amountEuros: 200,
      merchant: 'Bookshop',
      purpose: 'Many books',
    })
    const { error } = await losing('update on intents', () => host.cancel(taskId))
    expect(error).toEqual({
      code: -32_603,
      message: expect.stringMatching(/^unavailable: The database cannot be reached\./),
    })
    expect((await host.get(taskId)).result.status).toBe('working')
    await host.cancel(taskId)
    expect((await host.get(taskId)).result.status).toBe('cancelled')
  })
})
