import { describe, expect, test } from '@jest/globals'
import { type Cents, cents } from '../../../src/values/money.ts'
import { aPayingCard, bookshop } from '../../support/cards/network.ts'
import { signed } from '../../support/cards/signatures.ts'
import { startTestService } from '../../support/harness.ts'
import { balanceOf, client, eventsOf, network, ownerId, paymentsOf, service } from './service.ts'

const strict = await startTestService({ env: { RATE_LIMIT_PER_MINUTE: '5' } })

const request = (authorizationId: string, amountCents: Cents) => ({
  kind: 'authorization' as const,
  authorizationId,
  ask: 0,
  amountCents,
  partialAllowed: false,
  merchant: bookshop,
})

describe('a message', () => {
  test.each([
    ['without a signature', () => ({})],
    ['with another secret’s signature', (body: string) => signed(body, { key: '1'.repeat(64) })],
    ['with a signature of ten minutes ago', (body: string) => signed(body, { secondsAgo: 600 })],
  ])('%s is a 401, and nothing moves', async (_, headers) => {
    const { agent, card } = await aPayingCard(client, 100)
    const { processorCardId } = await network.messageOf(card.id, request('unsigned', cents(1_000n)))
    const content = { ...request('unsigned', cents(1_000n)), amountEuros: undefined, amountCents: '1000' }
    const body = JSON.stringify({ id: 'unsigned', processorCardId, sentAt: new Date(0), content })
    const post = (more: Record<string, string>) =>
      service.http('POST', '/rails/card-processor', { headers: more, body })
    expect((await post(headers(body))).status).toBe(401)
    expect([await balanceOf(agent.id), await paymentsOf(card.id)]).toEqual([[100, 0], []])
    // The same bytes with a signature are accepted.
    expect((await post(signed(body))).status).toBe(200)
  })

  test('with a bad signature counts against the limit of its address, and one with a good one does not', async () => {
    const statuses: number[] = []
    const body = '{}'
    const post = async (headers: Record<string, string>) =>
      statuses.push((await strict.http('POST', '/rails/card-processor', { headers, body })).status)
    for (let n = 0; n < 8; n++) await post({})
    expect(statuses).toContain(429)
    await post(signed(body))
    // Signed bytes are read even after the limit is used up; these are no message.
    expect(statuses.at(-1)).toBe(400)
  })

  test('a request for an unknown card is declined, and any other message acknowledged', async () => {
    const message = { id: 'nobody', processorCardId: 'nobody', sentAt: new Date() }
    const [asked, told] = [
      await network.deliver({ ...message, content: request('x', cents(100n)) }),
      await network.deliver({ ...message, content: { kind: 'expiry', authorizationId: 'x' } }),
    ]
    expect([asked.reply, told.reply]).toEqual([
      { kind: 'declined', reason: 'There is no such card.' },
      { kind: 'noted' },
    ])
  })

  test('under the id of another one, or a request under the number of another one, is declined and reported', async () => {
    const { agent, card } = await aPayingCard(client, 100)
    const id = `message of ${card.id}`
    const first = await network.send(card.id, request(card.id, cents(1_000n)), id)
    const other = await network.send(card.id, request(card.id, cents(2_000n)), id)
    const another = await network.send(card.id, request(card.id, cents(3_000n)))
    expect([first, other, another].map(({ reply }) => reply.kind)).toEqual([
      'approved',
      'declined',
      'declined',
    ])
    expect(await balanceOf(agent.id)).toEqual([90, 10])
    const reported = await eventsOf(ownerId, 'card.message_refused')
    expect(reported.filter(({ data }) => data.cardId === card.id)).toHaveLength(2)
  })

  test('a long descriptor is cut to two hundred characters in events', async () => {
    const { card } = await aPayingCard(client, 100)
    const descriptor = 'Ä'.repeat(200)
    await network.authorize(card.id, 10, { descriptor })
    const events = (await eventsOf(ownerId, 'transaction.%')).slice(-2)
    for (const { data } of events) expect(String(data.merchant).length).toBeLessThanOrEqual(200)
    expect(await paymentsOf(card.id)).toMatchObject([{ descriptor }])
  })
})
