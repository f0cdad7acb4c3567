import { describe, expect, test } from '@jest/globals'
import { schemaHistory } from '../../src/migrations/index.ts'
import { aPaidCard } from '../support/commerce/disputes.ts'
import { payByCard, recordingAcquirer } from '../support/commerce/refunds.ts'
import { aRequest } from '../support/commerce/requests.ts'
import { aWallet, bodyOf } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const { acquirer } = recordingAcquirer()
const service = await startTestService({ outside: { acquirer: () => acquirer } })

const MIGRATION = '0052-reservations-of-refunds'

/** The request under this key is left as 0.7.0 leaves one whose process is killed, and the database is taken over. */
async function takeOver(key: string, reservation: object): Promise<void> {
  await service.sql(
    `update idempotency_keys set status = null, body = null, error_code = null, reservation = $2, leased_by = 'gone'
     where key = $1`,
    [key, reservation],
  )
  const { text } = schemaHistory().migrations.find(({ name }) => name === MIGRATION) ?? {}
  await service.sql(String(text))
}

describe('a refund whose request 0.7.0 has left', () => {
  test.each([
    ['merchant', (refundId: string) => ({ push: { refundId, mode: 'test', cents: '5000', refund: {} } })],
    ['acquirer', (id: string) => ({ steps: { cards: {}, refundIds: [`request${id}`] } })],
  ])('is shown to a repetition, where the %s was asked', async (key, reservationOf) => {
    const { client, transactionId } = await aPaidCard(service, 50)
    const ask = () =>
      client.refunds.create({ body: { transactionId, reason: 'requested' }, idempotencyKey: key })
    const { id } = await bodyOf(ask())
    await takeOver(key, reservationOf(id))
    expect(await ask()).toMatchObject({ status: 201, body: { id } })
  })

  test('is shown to a repetition, where its payment is one of a request', async () => {
    const { client } = await service.owner()
    const request = await aRequest(client, (await aWallet(client)).id)
    await payByCard(service, client, request)
    const ask = () =>
      client.collect.refund({ params: { id: request.id }, body: {}, idempotencyKey: 'request' })
    const { refunds } = await bodyOf(ask())
    const refundIds = refunds.map(({ id }) => id)
    await takeOver('request', { cards: { requestId: request.id, refunds: [] }, refundIds })
    expect(await ask()).toMatchObject({ status: 200, body: { refunds: [{ id: refunds[0]?.id }] } })
  })
})
