import { beforeEach, describe, expect, test } from '@jest/globals'
import type { CardProcessor } from '../../../src/ports/card-processor.ts'
import { times } from '../../support/at-once.ts'
import { recordingCardProcessor } from '../../support/cards/processor.ts'
import { clientAt } from '../../support/client.ts'
import { aPaidCard } from '../../support/commerce/disputes.ts'
import { bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { killAt } from '../../support/processes/kill-at.ts'

const { processor: sandbox } = recordingCardProcessor()
type Push = NonNullable<CardProcessor['pushRefund']>
/** The references of calls to the processor, and its behaviour. */
const called: string[] = []
let behaves: (...given: Parameters<Push>) => ReturnType<Push>
const sandboxPush = sandbox.pushRefund as Push

const processor: CardProcessor = {
  ...sandbox,
  pushRefund(refund, call) {
    called.push(call.reference)
    return behaves(refund, call)
  },
}
const service = await startTestService({ outside: { cardProcessor: () => processor } })

beforeEach(() => {
  called.splice(0)
  behaves = sandboxPush
})

const ask = (client: TestClient, transactionId: string, amountEuros: number) =>
  client.refunds.create({ body: { transactionId, amountEuros, reason: 'requested' } })

const minutesLater = (client: TestClient, minutes: number) =>
  bodyOf(client.sandbox.advance({ body: { minutes } }))

const refundOf = async (client: TestClient, transactionId: string) =>
  (await bodyOf(client.refunds.list({ query: { transactionId } }))).data[0]

/** The service ends during the call: before or after the processor acted. */
const endingOnce = (when: 'before' | 'after') => {
  behaves = async (...given) => {
    behaves = sandboxPush
    if (when === 'after') await sandboxPush(...given)
    throw new Error('the service has ended')
  }
}

describe('a merchant whose refund is requested', () => {
  test.each(['before', 'after'] as const)(
    'is asked again where the service ends %s the processor has acted, under the same reference, until that is noted',
    async when => {
      const { client, transactionId } = await aPaidCard(service, 50)
      endingOnce(when)
      expect(await ask(client, transactionId, 20)).toMatchObject({ status: 500 })
      const refund = await refundOf(client, transactionId)
      expect(refund).toMatchObject({ status: 'pending', merchantAskedAt: null })
      await minutesLater(client, 2)
      expect(await refundOf(client, transactionId)).toMatchObject({
        ...{ status: 'pending', merchantAskedAt: expect.any(String) },
      })
      await minutesLater(client, 600)
      expect(called).toEqual([`${refund?.id}/push`, `${refund?.id}/push`])
    },
  )

  test('gets the request from another process if the first one is killed before it records the answer', async () => {
    const { client, key, transactionId } = await aPaidCard(service, 50)
    const isNoted = 'before update on refunds for each row when (new.merchant_asked_at is not null)'
    await killAt(service, isNoted, url => ask(clientAt({ url, token: key }), transactionId, 20))
    expect(await refundOf(client, transactionId)).toMatchObject({ status: 'pending', merchantAskedAt: null })
    await minutesLater(client, 2)
    const refund = await refundOf(client, transactionId)
    expect(refund).toMatchObject({ status: 'pending', merchantAskedAt: expect.any(String) })
    expect(called).toEqual([`${refund?.id}/push`])
  })

  test('gets the request again, ever less often, from one of many processes, until the processor answers', async () => {
    const { client, transactionId } = await aPaidCard(service, 95)
    const asked = await bodyOf(ask(client, transactionId, 93.03))
    expect(asked).toMatchObject({ status: 'pending', merchantAskedAt: null })
    await minutesLater(client, 59)
    expect(called).toHaveLength(6)
    behaves = async () => ({ status: 'asked' })
    await times(4, () => client.sandbox.advance({ body: { minutes: 10 } }))
    expect(new Set(called)).toEqual(new Set([`${asked.id}/push`]))
    expect(called).toHaveLength(7)
    expect(await refundOf(client, transactionId)).toMatchObject({ merchantAskedAt: expect.any(String) })
  })

  test('that declines a repetition fails the refund, and its amount is refundable again', async () => {
    const { client, transactionId } = await aPaidCard(service, 50)
    behaves = async () => ({ failure: 'late' })
    await bodyOf(ask(client, transactionId, 50))
    behaves = async () => ({ status: 'declined', message: 'The goods were used.' })
    await minutesLater(client, 2)
    const failure = { code: 'declined', message: expect.stringContaining('The goods were used.') }
    expect(await refundOf(client, transactionId)).toMatchObject({ status: 'failed', failure, dueAt: null })
    expect(await ask(client, transactionId, 50)).toMatchObject({ status: 201 })
  })

  test.each([
    ['the processor will not ask', async (_: TestClient) => undefined, 'pending'],
    [
      'nobody waits any more',
      (client: TestClient, id: string) => bodyOf(client.refunds.cancel({ params: { id } })),
      'cancelled',
    ],
  ] as const)('is asked no more where %s', async (why, act, status) => {
    const { client, transactionId } = await aPaidCard(service, 50)
    const refused = { failure: 'refused', code: 'unknown_payment', message: 'Not known.' } as const
    behaves = async () => (why.startsWith('the processor') ? refused : { failure: 'late' })
    const { id } = await bodyOf(ask(client, transactionId, 20))
    await act(client, id)
    await minutesLater(client, 600)
    expect(called).toEqual([`${id}/push`])
    expect(await refundOf(client, transactionId)).toMatchObject({ status, merchantAskedAt: null })
  })
})
