import { describe, expect, test } from '@jest/globals'
import type { CardMessageContent } from '../../../src/ports/card-processor.ts'
import { newId } from '../../../src/values/ids.ts'
import { cents } from '../../../src/values/money.ts'
import { aCard, getCard } from '../../support/cards/cards.ts'
import { aPayingCard, bookshop, networkBefore } from '../../support/cards/network.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import {
  answers,
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

const rotate = (client: TestClient, id: string, body: { overlapMinutes?: number } = {}) =>
  client.cards.rotate({ params: { id }, body })

const statesOf = async (cardId: string): Promise<string[]> =>
  (await numbers(cardId)).map(({ status, processor_state }) => `${status} ${processor_state}`)

describe('a card that is rotated', () => {
  test('gets another number and keeps all else; the number before is closed at once', async () => {
    const { client } = await service.owner()
    const before = await aCard(client, { limits: { dailyLimitEuros: 10 } })
    await pass(client, { seconds: 10 })
    await bodyOf(rotate(client, before.id))
    await pass(client, { minutes: 2 })
    const after = await getCard(client, before.id)
    expect(after).toMatchObject({ id: before.id, status: 'active', limits: before.limits })
    expect(after.last4).not.toBe(before.last4)
    expect(await statesOf(before.id)).toEqual(['replaced closed', 'current active'])
    expect((await eventsOf(before.id)).slice(-2)).toEqual(['card.rotation_started', 'card.rotated'])
  })

  test('pays by the number before for as long as it is said', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await pass(client, { seconds: 10 })
    await bodyOf(rotate(client, id, { overlapMinutes: 60 }))
    await pass(client, { minutes: 30 })
    expect(await statesOf(id)).toEqual(['retiring active', 'current active'])
    await pass(client, { minutes: 31 })
    expect(await statesOf(id)).toEqual(['replaced closed', 'current active'])
  })

  test('is declined on a number that was replaced, and clears there what was authorized before', async () => {
    const { client } = await service.owner()
    const { agent, card } = await aPayingCard(client, 100)
    const [before] = await numbers(card.id)
    const onOld = async (content: CardMessageContent) =>
      (
        await network.deliver({
          ...(await network.messageOf(card.id, content)),
          processorCardId: String(before?.processor_card_id),
        })
      ).reply.kind
    const ask = (authorizationId: string, n = 0): CardMessageContent => ({
      kind: 'authorization',
      authorizationId,
      ask: n,
      amountCents: cents(5_00n),
      partialAllowed: false,
      merchant: bookshop,
    })
    const [first, second, third] = [newId('iauth'), newId('iauth'), newId('iauth')]
    expect(await onOld(ask(first))).toBe('approved')
    await bodyOf(rotate(client, card.id, { overlapMinutes: 60 }))
    await pass(client, { minutes: 30 })
    expect(await onOld(ask(second))).toBe('approved')
    await pass(client, { minutes: 40 })
    for (const n of [0, 1]) expect(await onOld(ask(third, n))).toBe('declined')
    expect(await onOld(ask(first, 1))).toBe('approved')
    for (const authorizationId of [first, second]) {
      const clearing = { amountCents: cents(5_00n), final: true, merchant: bookshop, authorizationId }
      await onOld({ kind: 'clearing', clearingId: newId('clearing'), ...clearing })
    }
    const { availableEuros } = await bodyOf(client.wallets.get({ params: { id: agent.walletId } }))
    expect(availableEuros).toBe(90)
  })

  test('has both numbers stopped by a freeze while they overlap', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await bodyOf(rotate(client, id, { overlapMinutes: 600 }))
    await pass(client, { minutes: 1 })
    await bodyOf(client.cards.freeze({ params: { id }, body: {} }))
    await pass(client, { minutes: 1 })
    expect(await statesOf(id)).toEqual(['retiring inactive', 'current inactive'])
  })

  test('a rotation issues one number, however late the processor is and however often it is called', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await pass(client, { seconds: 10 })
    answers.replace = async (...request) => {
      await sandbox.replace(...request)
      return { failure: 'late' }
    }
    await bodyOf(rotate(client, id))
    await pass(client, { minutes: 10 })
    expect((await rotate(client, id)).code).toBe('rotation_under_way')
    expect(await statesOf(id)).toEqual(['current active'])
    const references = calls.filter(({ call }) => call === 'replace').map(({ reference }) => reference)
    expect(references.length).toBeGreaterThan(2)
    restore()
    await pass(client, { minutes: 40 })
    const [, next] = await numbers(id)
    expect(new Set(references)).toEqual(new Set([next?.id]))
    expect(await statesOf(id)).toEqual(['replaced closed', 'current active'])
  })

  test('is rotated once by many requests at the same time', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    const answered = await Promise.all(Array.from({ length: 8 }, () => rotate(client, id)))
    expect(answered.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)])
    await pass(client, { minutes: 2 })
    expect(await statesOf(id)).toEqual(['replaced closed', 'current active'])
  })

  test('keeps its number where the processor refuses another one, and says why', async () => {
    const { client } = await service.owner()
    const card = await aCard(client)
    await pass(client, { seconds: 10 })
    answers.replace = async () => ({ failure: 'refused', code: 'no', message: 'Not this one.' })
    await bodyOf(rotate(client, card.id))
    await pass(client, { minutes: 1 })
    expect(await getCard(client, card.id)).toMatchObject({
      status: 'active',
      last4: card.last4,
      processorProblem: 'Not this one.',
    })
    restore()
    expect((await rotate(client, card.id)).status).toBe(200)
  })

  test('has the number closed that comes after the card was closed', async () => {
    const { client } = await service.owner()
    const { id } = await aCard(client)
    await pass(client, { seconds: 10 })
    await bodyOf(rotate(client, id, { overlapMinutes: 60 }))
    await bodyOf(client.cards.close({ params: { id }, body: {} }))
    await pass(client, { minutes: 5 })
    const all = await numbers(id)
    expect(all.map(({ processor_state }) => processor_state)).toEqual(['closed', 'closed'])
    for (const { processor_card_id } of all) expect(lastState(processor_card_id)).toBe('closed')
  })

  test.each([-1, 10_081, 1.5])(
    'refuses an overlap of %s minutes and names the member',
    async overlapMinutes => {
      const { client } = await service.owner()
      const { id } = await aCard(client)
      const answer = await rotate(client, id, { overlapMinutes })
      expect(answer.status).toBe(400)
      expect(answer.error).toContain('overlapMinutes')
    },
  )
})
