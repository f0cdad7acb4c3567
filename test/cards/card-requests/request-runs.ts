import { describe, expect, test } from '@jest/globals'
import { cardRequestProcess } from '../../../src/cards/card-requests/process.ts'
import { formatMinute } from '../../../src/values/minute.ts'
import { aCardRequest, aCardWith, getCard, getRequest, toldAbout } from '../../support/cards/card-requests.ts'
import { aFundedAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { runViewer } from '../../support/temporal/runs.ts'

const service = await startTestService({ temporal: true })
const temporal = await runViewer()
const { client } = await service.owner()
const agent = await aFundedAgent(client)

async function aWaitingRequest(
  members: Parameters<typeof aCardRequest>[2] = {},
  by = client,
  agentId = agent.id,
) {
  const request = await aCardRequest(by, agentId, members)
  const run = temporal.of(request)
  await run.untilDetails('waits for approval')
  return { request, run, params: { id: request.id } }
}

describe('the run of a card request', () => {
  test('shows an operator what it waits for, and its signals', async () => {
    const { request, run } = await aWaitingRequest()
    const until = formatMinute(new Date(request.expiresAt))
    expect((await run.details()).split('\n\n')).toEqual([
      `Card request for a new card in test mode: waits for approval until ${until}`,
      `It waits **for a person’s approval, until ${until}**.`,
      'Send an Update, which is answered, or a Signal: `approve`, `deny` or `cancel`, with this payload:',
      '`{"by": "your name", "reason": "why"}`',
    ])
    expect(await run.timerSummaries()).toEqual([`for a person’s approval, until ${until}`])
    expect(await run.attributes()).toMatchObject({ AgentPayAgent: agent.id, AgentPayStatus: 'pending' })
    const description = await run.handle.describe()
    expect(await description.staticSummary()).toBe(`Card request ${request.id}, test`)
    expect(await run.about()).toBe(cardRequestProcess.details)
  })

  test('issues the card that is approved by request', async () => {
    const { request, run, params } = await aWaitingRequest({ limits: { maxTransactionEuros: 50 } })
    await bodyOf(client.cardRequests.approve({ params, body: { limits: { maxTransactionEuros: 20 } } }))
    expect(await run.untilEnded()).toBe('issued')
    const { cardId } = await getRequest(client, request.id)
    expect(await getCard(client, String(cardId))).toMatchObject({
      status: 'active',
      limits: { maxTransactionEuros: 20 },
    })
    expect(await run.activityNames()).toContain('carryOutCardRequest')
    expect(await run.failedTasks()).toBe(0)
  })

  test('changes the limits that are approved by a signal, with the operator’s name', async () => {
    const card = await aCardWith(client, { dailyLimitEuros: 5 }, agent)
    const { request, run } = await aWaitingRequest({
      type: 'limit_change',
      cardId: card.id,
      limits: { dailyLimitEuros: 30 },
    })
    await run.signal('approve', { by: 'Ada', comment: 'Go ahead' })
    expect(await run.untilEnded()).toBe('changed')
    expect(await getRequest(client, request.id)).toMatchObject({
      status: 'changed',
      comment: 'Go ahead',
      answeredBy: { type: 'operator', id: null, name: 'Ada' },
    })
    expect((await getCard(client, card.id)).limits.dailyLimitEuros).toBe(30)
    expect((await toldAbout(client, request.id)).map(({ status }) => status)).toEqual([
      'pending',
      'approved',
      'changed',
    ])
  })

  test('ends with a signal that denies or cancels, and with a request to cancel it', async () => {
    const [denied, cancelled, requested] = [
      await aWaitingRequest(),
      await aWaitingRequest(),
      await aWaitingRequest(),
    ]
    await denied.run.signal('deny', { by: 'Ada', reason: 'One is enough' })
    await cancelled.run.signal('cancel', { by: 'Ada' })
    await requested.run.handle.cancel()
    expect(await denied.run.untilEnded()).toBe('denied')
    expect(await cancelled.run.untilEnded()).toBe('cancelled')
    expect(await requested.run.untilEnded()).toBe('cancelled')
    expect(await getRequest(client, denied.request.id)).toMatchObject({
      comment: 'One is enough',
      answeredBy: { name: 'Ada' },
    })
    expect((await getRequest(client, cancelled.request.id)).answeredBy).toBeNull()
  })

  test('answers a signal that comes too late or without a name, and changes nothing', async () => {
    const { run, params } = await aWaitingRequest()
    await run.signal('approve', { comment: 'Nobody' })
    await run.untilDetails('A signal approve was ignored')
    const results = await Promise.all([
      client.cardRequests.deny({ params, body: { reason: 'No' } }),
      run.signal('approve', { by: 'Ada' }),
    ])
    expect([await run.untilEnded(), results[0].status]).toEqual([
      results[0].status === 200 ? 'denied' : 'issued',
      results[0].status,
    ])
  })

  test('expires when the owner’s clock has passed 72 hours', async () => {
    const other = await service.owner()
    const { id } = await aFundedAgent(other.client)
    const { request, run } = await aWaitingRequest({}, other.client, id)
    await bodyOf(other.client.sandbox.advance({ body: { days: 3 } }))
    expect(await run.untilEnded()).toBe('expired')
    expect((await getRequest(other.client, request.id)).status).toBe('expired')
  })

  test('ends when its agent is deleted', async () => {
    const other = await service.owner()
    const { id } = await aFundedAgent(other.client)
    const { run } = await aWaitingRequest({}, other.client, id)
    await bodyOf(other.client.agents.delete({ params: { id } }))
    expect(await run.untilEnded()).toBe('cancelled')
  })
})
