import { afterEach, describe, expect, test } from '@jest/globals'
import { cardProcess } from '../../src/cards/cards/process.ts'
import { formatMinute } from '../../src/values/minute.ts'
import { aCard, eventsOfCard, getCard, numbersOf } from '../support/cards/cards.ts'
import { aPayingCard, networkBefore } from '../support/cards/network.ts'
import { recordingCardProcessor } from '../support/cards/processor.ts'
import { aFundedAgent, aLiveClient, anAgent, bodyOf, type TestClient } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { textOf } from '../support/temporal/history-text.ts'
import { runViewer } from '../support/temporal/runs.ts'
import { until } from '../support/until.ts'

const { processor, calls, answers, restore } = recordingCardProcessor()
const service = await startTestService({ temporal: true, outside: { cardProcessor: () => processor } })
const temporal = await runViewer()
const network = networkBefore(service)
const { client } = await service.owner()

afterEach(restore)

async function aRunningCard(by: TestClient = client, members: Parameters<typeof aCard>[1] = {}) {
  const card = await aCard(by, members)
  const run = temporal.of(card)
  await run.untilDetails('for its expiry or a change')
  return { card, run, params: { id: card.id } }
}

const statesOf = async (cardId: string): Promise<string[]> =>
  (await numbersOf(service, cardId)).map(({ processor_state }) => processor_state)

const becomes = (id: string, status: string, by = client) =>
  until(`${id} is ${status}`, async () => (await getCard(by, id)).status === status)

const advance = (by: TestClient, time: { minutes?: number; days?: number }) =>
  bodyOf(by.sandbox.advance({ body: time }))

describe('the run of a card', () => {
  test('shows what it does, what it waits for, and its signals', async () => {
    const { card, run } = await aRunningCard()
    const [number] = await numbersOf(service, card.id)
    const [{ ends_at: end }] = (await service.sql('select ends_at from card_numbers where id = $1', [
      number?.id,
    ])) as [{ ends_at: Date }]
    const waitsFor = `for its expiry or a change, at the latest at ${formatMinute(end)}`
    expect((await run.details()).split('\n\n')).toEqual([
      'Card for multi use in test mode: active',
      `It waits **${waitsFor}**.`,
      'Send an Update, which is answered, or a Signal: `freeze` or `close`, with this payload:',
      '`{"by": "your name", "reason": "why"}`',
    ])
    expect((await run.timerSummaries()).at(-1)).toBe(waitsFor)
    expect(await run.activityNames()).toContain('tellProcessor')
    expect(await run.attributes()).toMatchObject({ AgentPayStatus: 'active', AgentPayAgent: card.agentId })
    expect(await run.about()).toBe(cardProcess.details)
    expect(await statesOf(card.id)).toEqual(['active'])
  })

  test('ends with the card, once the processor knows', async () => {
    const other = await service.owner()
    const { card, run, params } = await aRunningCard(other.client)
    answers.setState = async () => ({ failure: 'late' })
    await bodyOf(other.client.cards.close({ params, body: { reason: 'Ada wanted it' } }))
    await run.untilDetails('which is tried again')
    restore()
    await advance(other.client, { minutes: 2 })
    expect(await run.untilEnded()).toBe('closed')
    expect(await statesOf(card.id)).toEqual(['closed'])
    expect(await run.failedTasks()).toBe(0)
  })

  test('has the card issued when the processor answers at last, by the owner’s clock', async () => {
    const other = await service.owner()
    answers.issue = async () => ({ failure: 'late' })
    const card = await aCard(other.client)
    const run = temporal.of(card)
    await run.untilDetails('for the processor to issue it')
    restore()
    await advance(other.client, { minutes: 2 })
    await becomes(card.id, 'active', other.client)
    await run.untilDetails('for its expiry or a change')
    expect(await eventsOfCard(service, card.id)).toEqual(['card.created', 'card.issued', 'card.activated'])
  })

  test('rotates the number of a card, and closes the old one', async () => {
    const { card, params } = await aRunningCard()
    await bodyOf(client.cards.rotate({ params, body: {} }))
    await until('both are told', async () => (await statesOf(card.id)).join() === 'closed,active')
    expect((await getCard(client, card.id)).last4).not.toBe(card.last4)
    expect(calls.filter(({ call }) => call === 'replace')).toHaveLength(1)
  })

  test('returns the balance of the purse when the card closes', async () => {
    const { run, params } = await aRunningCard()
    await bodyOf(client.cards.fund({ params, body: { amountEuros: 5 } }))
    await bodyOf(client.cards.close({ params, body: {} }))
    expect(await run.untilEnded()).toBe('closed')
    expect((await getCard(client, params.id)).balance?.availableEuros).toBe(0)
    expect(await run.activityNames()).toContain('returnPurse')
  })

  test('returns by itself what a reversal frees in the purse of a closed card', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const [run, params] = [temporal.of(card), { id: card.id }]
    await bodyOf(client.cards.fund({ params, body: { amountEuros: 30 } }))
    const { authorizationId } = await network.authorize(card.id, 12)
    await bodyOf(client.cards.close({ params, body: {} }))
    await run.untilDetails('for the balance of its purse to be returned, which is tried again at')
    await network.reverse(card.id, authorizationId)
    expect(await run.untilEnded()).toBe('closed')
    expect((await run.activityNames()).filter(name => name === 'returnPurse')).toHaveLength(2)
    expect(await bodyOf(client.agents.balance({ params: { id: agent.id } }))).toMatchObject({
      availableEuros: 100,
    })
  })

  test('its history contains ids, but no names, digits or text of the owner', async () => {
    const agent = await aFundedAgent(client, { name: 'Zauberagent' })
    const displayName = 'Geheime Karte'
    const { card, run, params } = await aRunningCard(client, { agentId: agent.id, displayName })
    await bodyOf(client.cards.close({ params, body: { reason: 'Streng vertraulich' } }))
    await run.untilEnded()
    const { events } = await run.handle.fetchHistory()
    const historyText = textOf([events, await run.handle.describe().then(({ raw }) => raw)])
    expect(historyText).toContain('Card for multi use in test mode')
    for (const secret of ['Zauberagent', displayName, 'Streng vertraulich', `ending in ${card.last4}`])
      expect(historyText).not.toContain(secret)
    const [number] = await numbersOf(service, card.id)
    expect(historyText).not.toContain(String(number?.processor_card_id))
  })

  test('of an agent that is deleted closes the card', async () => {
    const other = await service.owner()
    const { card, run } = await aRunningCard(other.client)
    await bodyOf(other.client.agents.delete({ params: { id: card.agentId } }))
    expect(await run.untilEnded()).toBe('closed')
    expect((await getCard(other.client, card.id)).closedReason).toBe('agent_deleted')
    const deletion = temporal.of({ workflowId: `agent/${card.agentId}` })
    expect(await deletion.untilEnded()).toBe('deleted')
    expect(await deletion.activityNames()).toContain('closeCards')
  })
})

describe('a signal to a card', () => {
  test('freezes, unfreezes and closes it, by the operator that it names', async () => {
    const { card, run } = await aRunningCard()
    await run.signal('freeze', { by: 'Ada', reason: 'Unusual' })
    await becomes(card.id, 'frozen')
    expect((await getCard(client, card.id)).frozenReason).toBe('Unusual')
    await run.signal('unfreeze', { by: 'Ada' })
    await becomes(card.id, 'active')
    await run.signal('close', { by: 'Ada' })
    expect(await run.untilEnded()).toBe('closed')
    expect((await getCard(client, card.id)).closedReason).toBe('Closed by Ada')
    const { data } = await bodyOf(client.audit.list({ query: { resource: card.id } }))
    expect(data[0]).toMatchObject({ event: 'card.closed', actorType: 'operator', actorId: 'Ada' })
  })

  test('that changes nothing says so, and Request Cancellation is one of them', async () => {
    const { card, run } = await aRunningCard()
    await run.signal('unfreeze', { by: 'Ada' })
    await run.untilDetails('The signal unfreeze by Ada changed nothing: The card is already active.')
    await run.handle.cancel()
    await run.untilDetails('Request Cancellation changed nothing')
    expect((await getCard(client, card.id)).status).toBe('active')
    expect(await run.status()).toBe('RUNNING')
  })

  test.each(['freeze', 'unfreeze', 'close'])(
    'to %s a live card is ignored without OPERATOR_SIGNALS',
    async signal => {
      const live = await aLiveClient(service, await service.owner())
      const { card, run } = await aRunningCard(live, { agentId: (await anAgent(live)).id })
      expect(await run.details()).not.toContain('Send an Update')
      await run.signal(signal, { by: 'Ada' })
      await run.untilDetails('OPERATOR_SIGNALS is off')
      expect((await getCard(live, card.id)).status).toBe('active')
    },
  )
})
