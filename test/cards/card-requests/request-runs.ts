import { describe, expect, test } from '@jest/globals'
import { cardRequestProcess } from '../../../src/cards/card-requests/process.ts'
import { formatMinute } from '../../../src/values/minute.ts'
import { rowOf, whileLocked } from '../../support/at-once.ts'
import { aCardRequest, aCardWith, getCard, getRequest, toldAbout } from '../../support/cards/card-requests.ts'
import { approvers, cardApprovers } from '../../support/cards/several-approvers.ts'
import { aFundedAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { runViewer } from '../../support/temporal/runs.ts'
import { until } from '../../support/until.ts'

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

describe('the run of a card request whose policy asks several people', () => {
  test('shows how many have approved and which signals count, and issues the card after the last', async () => {
    const { ask, approve, first, second } = await cardApprovers(service, [approvers(2)])
    const request = await ask()
    const run = temporal.of(request)
    const ends = formatMinute(new Date(String(request.approval?.endsAt)))
    await run.untilDetails(`for approvals: 0 of 2, approvers until ${ends}, then deny`)
    expect(await run.state()).toMatchObject({ signals: ['deny', 'cancel'], next: 'remind' })
    await run.signal('approve', { by: 'Ada' })
    await run.untilDetails('The signal approve by Ada changed nothing')
    await bodyOf(approve(request.id, first))
    await run.untilDetails(`for approvals: 1 of 2, approvers until ${ends}, then deny`)
    await bodyOf(approve(request.id, second))
    expect(await run.untilEnded()).toBe('issued')
  })

  test('is reminded, passed on to the next people and denied, as the clock of the account says', async () => {
    const { ask, pass, namesOf } = await cardApprovers(service, [
      approvers(2, { withinMinutes: 240, then: 'next' }),
      approvers(1, { of: 'owners', aboveEuros: 1_000, withinMinutes: 120 }),
    ])
    const request = await ask()
    const run = temporal.of(request)
    const happens = (event: string) => until(event, async () => (await namesOf(request.id)).includes(event))
    await run.untilDetails('for approvals')
    await pass(121)
    await happens('approval_reminder')
    await pass(120)
    await happens('approval_escalated')
    await run.untilDetails('0 of 2, approvers and owners until')
    await pass(121)
    expect(await run.untilEnded()).toBe('denied')
  })

  test('is denied by the signal of an operator, and at once where too few people are left', async () => {
    const { client, ask, team } = await cardApprovers(service, [approvers(3)])
    const [denied, other] = [temporal.of(await ask()), temporal.of(await ask())]
    await denied.untilDetails('for approvals')
    await denied.signal('deny', { by: 'Ada', reason: 'Too expensive' })
    expect(await denied.untilEnded()).toBe('denied')
    await other.untilDetails('for approvals')
    await bodyOf(client.people.remove({ params: { id: String(team.at(-1)?.personId) } }))
    expect(await other.untilEnded()).toBe('denied')
  })

  test('is denied, too, where people leave while another transaction holds it', async () => {
    const { client, ask, first } = await cardApprovers(service, [approvers(3)])
    const request = await ask()
    const run = temporal.of(request)
    await run.untilDetails('for approvals')
    await whileLocked(service, rowOf('card_requests', request.id), async () => {
      await bodyOf(client.people.remove({ params: { id: first.personId } }))
    })
    expect(await run.untilEnded()).toBe('denied')
  })
})
