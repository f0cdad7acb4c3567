import { beforeEach, describe, expect, test } from '@jest/globals'
import type { CardProcessor } from '../../../src/ports/card-processor.ts'
import { processorWith } from '../../support/cards/reveal.ts'
import { sandboxWith } from '../../support/cards/sandbox.ts'
import { aCardholder, balanceOf, shop } from '../../support/cards/simulated.ts'
import type { TestClient } from '../../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../../support/harness.ts'

const sandbox = sandboxWith(ENCRYPTION_KEY)
const failing = (): never => {
  throw new Error('the process has ended here')
}

let failure: Partial<CardProcessor> = {}
const service = await startTestService({
  outside: processorWith({
    read: (...message) => (failure.read ?? sandbox.read)(...message),
    replyIn: answer => (failure.replyIn ?? sandbox.replyIn ?? failing)(answer),
  }),
})

beforeEach(() => {
  failure = {}
})

const authorize = (client: TestClient, cardId: string) =>
  client.sandbox.authorizeCard({
    body: { ...shop, cardId, amountEuros: 20 },
    idempotencyKey: 'crashed',
  })

const age = (ownerId: string) =>
  service.sql(
    `update idempotency_keys set created_at = created_at - interval '3 minutes' where owner_id = $1`,
    [ownerId],
  )

describe('a crash while the card network is played', () => {
  test('after the message came in is answered with what it was answered then', async () => {
    const { client, agent, card, ownerId } = await aCardholder(service)
    failure = { replyIn: failing }
    expect((await authorize(client, card.id)).status).toBe(500)
    expect(await balanceOf(client, agent.id)).toEqual([80, 20])
    failure = {}
    await age(ownerId)
    const again = await authorize(client, card.id)
    expect(again).toMatchObject({ status: 200, body: { reply: 'approved', approvedEuros: 20 } })
    expect(await balanceOf(client, agent.id)).toEqual([80, 20])
  })

  test('before the message came in says so, and sends nothing', async () => {
    const { client, agent, card, ownerId } = await aCardholder(service)
    failure = { read: failing }
    expect((await authorize(client, card.id)).status).toBe(500)
    failure = {}
    await age(ownerId)
    expect(await authorize(client, card.id)).toMatchObject({ status: 503, code: 'not_delivered' })
    expect(await balanceOf(client, agent.id)).toEqual([100, 0])
  })
})
