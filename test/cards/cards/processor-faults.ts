import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { aCard, getCard } from '../../support/cards/cards.ts'
import { aPayingCard, networkBefore } from '../../support/cards/network.ts'
import { anAgent, bodyOf } from '../../support/factories.ts'
import {
  answers,
  callLines,
  calls,
  eventsOf,
  lastState,
  numbers,
  pass,
  restore,
  sandbox,
  service,
} from './cards-service.ts'

const network = networkBefore(service)

const LATE = { failure: 'late' } as const
const REFUSED = { failure: 'refused', code: 'no_address', message: 'The holder has no address.' } as const

describe('a processor that is late with a card', () => {
  test('leaves the card pending, gets the same reference again, and issues one card', async () => {
    const { client } = await service.owner()
    answers.issue = async () => LATE
    const card = await aCard(client)
    expect(card).toMatchObject({ status: 'pending', last4: null })
    expect(card.processorProblem).toContain('does not answer')
    await pass(client, { seconds: 20 })
    expect((await getCard(client, card.id)).status).toBe('pending')
    restore()
    await pass(client, { minutes: 1 })
    expect(await getCard(client, card.id)).toMatchObject({ status: 'active', processorProblem: null })
    expect(callLines().filter(line => line.startsWith('issue'))).toEqual([`issue ${card.id}`])
    expect(await numbers(card.id)).toHaveLength(1)
    expect(await eventsOf(card.id)).toEqual(['card.created', 'card.issued', 'card.activated'])
  })

  test('an unavailable processor is called with increasing pauses, and no card is lost', async () => {
    const { client } = await service.owner()
    for (const call of ['issue', 'setState'] as const) answers[call] = async () => LATE
    const card = await aCard(client)
    await pass(client, { minutes: 60 })
    const asked = callLines()
    expect(new Set(asked)).toEqual(new Set([`issue ${card.id}`]))
    expect(asked.length).toBeGreaterThan(4)
    expect(asked.length).toBeLessThan(12)
    restore()
    await pass(client, { minutes: 35 })
    expect((await getCard(client, card.id)).status).toBe('active')
    await pass(client, { minutes: 1 })
    expect((await numbers(card.id)).map(({ processor_state }) => processor_state)).toEqual(['active'])
  })

  test('a processor that is not configured is shown on the card, and told once it is configured again', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await pass(client, { minutes: 1 })
    const isOf = (name: string) => service.sql('update cards set processor = $2 where id = $1', [id, name])
    await isOf('another')
    await bodyOf(client.cards.freeze({ params: { id }, body: {} }))
    await pass(client, { minutes: 60 })
    expect(await getCard(client, id)).toMatchObject({
      status: 'frozen',
      processorProblem: 'The card’s processor is not configured. The service will try again.',
    })
    const [{ attempts } = { attempts: 0 }] = await service.sql<{ attempts: number }>(
      'select attempts from cards where id = $1',
      [id],
    )
    expect(attempts).toBeGreaterThan(4)
    expect(attempts).toBeLessThan(12)
    await isOf(sandbox.name)
    await pass(client, { minutes: 35 })
    expect(await getCard(client, id)).toMatchObject({ status: 'frozen', processorProblem: null })
    expect((await numbers(id))[0]?.processor_state).toBe('inactive')
  })

  test('every repetition of a call has the same members: a pending card cannot be changed', async () => {
    const { client } = await service.owner()
    answers.issue = async () => LATE
    const { id } = await aCard(client, { limits: { dailyLimitEuros: 5 } })
    const params = { id }
    for (const answer of [
      await client.cards.setLimits({ params, body: {} }),
      await client.cardControls.set({ params, body: {} }),
      await client.cards.update({ params, body: { displayName: 'Other' } }),
      await client.cards.rotate({ params, body: {} }),
      await client.cards.activate({ params }),
    ])
      expect(answer.code).toBe('card_pending')
    await bodyOf(client.cards.update({ params, body: { metadata: { a: 'b' } } }))
    await pass(client, { minutes: 1 })
    const asked = calls.flatMap(({ card }) => card ?? [])
    expect(asked.length).toBeGreaterThan(1)
    expect(new Set(asked.map(one => JSON.stringify(one, (_, value) => String(value)))).size).toBe(1)
  })

  test('has the number closed that it issues for a card that was closed meanwhile', async () => {
    const { client } = await service.owner()
    answers.issue = async () => LATE
    const { id } = await aCard(client)
    await bodyOf(client.cards.close({ params: { id }, body: {} }))
    restore()
    await pass(client, { minutes: 2 })
    expect((await getCard(client, id)).status).toBe('closed')
    const [number] = await numbers(id)
    expect(number?.processor_state).toBe('closed')
    expect(lastState(String(number?.processor_card_id))).toBe('closed')
    expect(await eventsOf(id)).toEqual(['card.created', 'card.closed', 'card.issued'])
  })

  test('may answer after the request has been given up: the card it has issued is the card', async () => {
    const { client } = await service.owner()
    let answer = (): void => undefined
    const isAsked = new Promise<void>(asked => {
      answers.issue = async (...request) => {
        asked()
        await new Promise<void>(resolve => {
          answer = resolve
        })
        return sandbox.issue(...request)
      }
    })
    const creating = aCard(client)
    await isAsked
    answers.issue = sandbox.issue
    await pass(client, { minutes: 1 })
    answer()
    const card = await creating
    expect(card.status).toBe('active')
    expect(await numbers(card.id)).toHaveLength(1)
    expect((await eventsOf(card.id)).filter(event => event === 'card.issued')).toHaveLength(1)
  })
})

describe('a processor that refuses', () => {
  test('closes the card with the processor’s message, and sends no further call', async () => {
    const { client } = await service.owner()
    answers.issue = async () => REFUSED
    const { id: agentId } = await anAgent(client)
    const answer = await client.cards.create({ body: { agentId, usage: 'multi' } })
    expect([answer.status, answer.code]).toEqual([400, 'processor_refused'])
    expect(answer.error).toContain(REFUSED.message)
    await pass(client, { days: 1 })
    expect(calls).toHaveLength(1)
    const [card] = (await bodyOf(client.cards.list({ query: { agentId } }))).data
    expect(card).toMatchObject({
      status: 'closed',
      closedReason: 'processor_refused',
      processorProblem: REFUSED.message,
    })
  })

  test('a card that it was late with has it closed too', async () => {
    const { client } = await service.owner()
    answers.issue = async () => LATE
    const { id } = await aCard(client)
    answers.issue = async () => REFUSED
    await pass(client, { minutes: 1 })
    expect(await getCard(client, id)).toMatchObject({ status: 'closed', closedReason: 'processor_refused' })
    expect(await eventsOf(id)).toEqual(['card.created', 'card.closed'])
  })

  test('to let it be active has the card frozen, until its owner tries again', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    answers.setState = async (_, state) => (state === 'active' ? REFUSED : { done: true })
    await pass(client, { minutes: 1 })
    expect(await getCard(client, id)).toMatchObject({
      status: 'frozen',
      frozenReason: 'processor_refused',
      processorProblem: REFUSED.message,
    })
    restore()
    await bodyOf(client.cards.unfreeze({ params: { id } }))
    await pass(client, { minutes: 1 })
    expect(await getCard(client, id)).toMatchObject({ status: 'active', processorProblem: null })
    expect((await numbers(id))[0]?.processor_state).toBe('active')
  })

  test('limits that the processor refuses are shown with the reason, and still enforced here', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    answers.setControls = async () => REFUSED
    await bodyOf(client.cards.setLimits({ params: { id }, body: { dailyLimitEuros: 5 } }))
    await pass(client, { days: 1 })
    expect(calls.filter(({ call }) => call === 'setControls')).toHaveLength(1)
    const card = await getCard(client, id)
    expect(card).toMatchObject({ status: 'active', processorProblem: REFUSED.message })
    expect(card.limits.dailyLimitEuros).toBe(5)
    expect(await eventsOf(id)).toContain('card.processor_refused')
  })
})

describe('a change of a card', () => {
  test('a change of state applies immediately, and reaches the processor with its own reference', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    const params = { id }
    await pass(client, { seconds: 10 })
    await bodyOf(client.cards.freeze({ params, body: {} }))
    await pass(client, { seconds: 10 })
    await bodyOf(client.cards.unfreeze({ params }))
    await bodyOf(client.cards.setLimits({ params, body: { dailyLimitEuros: 7 } }))
    await pass(client, { seconds: 10 })
    const [number] = await numbers(id)
    const told = calls.slice(1).map(({ call, reference, told: what }) => [call, reference, what])
    expect(told).toEqual([
      ['setState', `${number?.id}-state-1`, 'active'],
      ['setState', `${number?.id}-state-2`, 'inactive'],
      ['setState', `${number?.id}-state-3`, 'active'],
      ['setControls', `${number?.id}-controls-2`, expect.objectContaining({ dailyLimitCents: 700n })],
    ])
    await pass(client, { days: 1 })
    expect(calls).toHaveLength(5)
  })

  test.each(['freeze', 'close'] as const)(
    'to %s it declines at once, though the processor is away',
    async verb => {
      const { client } = await service.owner()
      const { card } = await aPayingCard(client, 100)
      await pass(client, { minutes: 1 })
      answers.setState = async () => LATE
      expect((await network.authorize(card.id, 5)).reply.kind).toBe('approved')
      await bodyOf(client.cards[verb]({ params: { id: card.id }, body: {} }))
      expect((await network.authorize(card.id, 5)).reply.kind).toBe('declined')
    },
  )

  test('a state is sent again if the processor’s answer was lost, even after other changes', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    answers.setState = async () => LATE
    await pass(client, { seconds: 10 })
    await bodyOf(client.cards.freeze({ params: { id }, body: {} }))
    restore()
    await pass(client, { minutes: 2 })
    const [number] = await numbers(id)
    // The number may have become active at the processor, so the state `inactive` is sent again.
    expect(lastState(String(number?.processor_card_id))).toBe('inactive')
    expect((await getCard(client, id)).status).toBe('frozen')
  })

  test('continues by its process if the request crashed before the call', async () => {
    const { client } = await service.owner()
    const body = { agentId: (await anAgent(client)).id, usage: 'multi' as const }
    answers.issue = () => Promise.reject(new Error('the process was killed'))
    const idempotencyKey = newId('try')
    const failed = await client.cards.create({ body, idempotencyKey })
    expect(failed.status).toBe(500)
    restore()
    // Older than any call: the process that made it must have died.
    await service.sql(`update idempotency_keys set created_at = created_at - interval '1 hour'`)
    const again = await client.cards.create({ body, idempotencyKey })
    expect(again.body).toMatchObject({ status: 'pending' })
    expect(calls).toEqual([])
    await pass(client, { minutes: 1 })
    const cards = (await bodyOf(client.cards.list({ query: { agentId: body.agentId } }))).data
    expect(cards.map(({ status }) => status)).toEqual(['active'])
  })
})
