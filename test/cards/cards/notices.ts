import { describe, expect, test } from '@jest/globals'
import { newId } from '../../../src/values/ids.ts'
import { aCard, getCard } from '../../support/cards/cards.ts'
import { networkBefore } from '../../support/cards/network.ts'
import { bodyOf } from '../../support/factories.ts'
import { answers, calls, eventsOf, lastState, numbers, pass, service } from './cards-service.ts'

const network = networkBefore(service)

const dataOf = async (event: string, cardId: string): Promise<object[]> => {
  const rows = await service.sql<{ data: object }>(
    `select data from events where event = $1 and data ->> 'cardId' = $2 order by id`,
    [event, cardId],
  )
  return rows.map(({ data }) => data)
}

describe('a notice of the processor', () => {
  test('a closed number closes the card once, with the processor’s reason', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await pass(client, { seconds: 10 })
    const message = newId('message')
    for (let n = 0; n < 3; n++)
      await network.send(id, { kind: 'number_closed', reason: 'Reported as stolen.' }, message)
    expect(await getCard(client, id)).toMatchObject({
      status: 'closed',
      closedReason: 'closed_by_processor',
      processorProblem: 'Reported as stolen.',
    })
    expect((await eventsOf(id)).filter(event => event === 'card.closed')).toHaveLength(1)
    const asked = calls.length
    await pass(client, { days: 1 })
    expect(calls).toHaveLength(asked)
  })

  test('that it has closed the number before a rotation leaves the card as it is', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await bodyOf(client.cards.rotate({ params: { id }, body: { overlapMinutes: 60 } }))
    await pass(client, { minutes: 1 })
    const [before, current] = await numbers(id)
    const content = { kind: 'number_closed', reason: 'Replaced.' } as const
    const processorCardId = String(before?.processor_card_id)
    await network.deliver({ ...(await network.messageOf(id, content)), processorCardId })
    expect((await getCard(client, id)).status).toBe('active')
    await pass(client, { days: 1 })
    const states = (await numbers(id)).map(({ processor_state }) => processor_state)
    expect(states).toEqual(['closed', 'active'])
    expect(lastState(String(current?.processor_card_id))).toBe('active')
  })

  test('that it has closed the number in view of a rotation closes the card only if there is no other number', async () => {
    const { client } = await service.owner()
    const [refused, rotated] = [await aCard(client), await aCard(client)]
    await pass(client, { seconds: 10 })
    for (const { id } of [refused, rotated]) {
      await bodyOf(client.cards.rotate({ params: { id }, body: { overlapMinutes: 60 } }))
      await network.send(id, { kind: 'number_closed', reason: 'Replaced.' })
      expect((await getCard(client, id)).status).toBe('active')
    }
    const { replace } = answers
    answers.replace = async (processorCardId, card, call) =>
      card.cardId === refused.id
        ? { failure: 'refused', code: 'no', message: 'Not this one.' }
        : replace(processorCardId, card, call)
    await pass(client, { minutes: 2 })
    expect(await getCard(client, refused.id)).toMatchObject({
      status: 'closed',
      closedReason: 'closed_by_processor',
      processorProblem: 'Not this one.',
    })
    expect((await getCard(client, rotated.id)).status).toBe('active')
    expect((await numbers(rotated.id)).map(({ processor_state }) => processor_state)).toEqual([
      'closed',
      'active',
    ])
  })

  test('a shipped card emits an event with carrier and tracking number', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await network.send(id, { kind: 'shipped', carrier: 'DHL', trackingNumber: null })
    const [data] = await dataOf('card.shipped', id)
    expect(data).toMatchObject({ cardId: id, status: 'active', carrier: 'DHL', trackingNumber: null })
  })

  test('a change in a phone’s wallet emits an event with the status there', async () => {
    const { client } = await service.owner()
    const { id, last4 } = await aCard(client)
    const tokenId = newId('token')
    await network.send(id, { kind: 'mobile_wallet', tokenId, wallet: 'apple_pay', status: 'suspended' })
    const [data] = await dataOf('mobile_wallet.updated', id)
    expect(data).toMatchObject({ cardId: id, last4, tokenId, wallet: 'apple_pay', status: 'suspended' })
  })
})
