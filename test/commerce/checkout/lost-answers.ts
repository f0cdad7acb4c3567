import { describe, expect, test } from '@jest/globals'
import type { EncryptedDisclosure } from '../../../src/ports/card-processor.ts'
import { aShopper, cardDataOf, lastAsk, opened, processorWith } from '../../support/cards/reveal.ts'
import { sandboxWith } from '../../support/cards/sandbox.ts'
import { bodyOf } from '../../support/factories.ts'
import { ENCRYPTION_KEY, startTestService } from '../../support/harness.ts'
import { until } from '../../support/until.ts'

/** A pending answer of the processor; undefined = it answers immediately. */
let pending: Promise<EncryptedDisclosure> | undefined
const sandbox = sandboxWith(ENCRYPTION_KEY)
const service = await startTestService({
  outside: processorWith({ disclose: (...asked) => pending ?? sandbox.disclose(...asked) }),
})

describe('a token whose data was lost on the way, as the service stopped,', () => {
  test('a token is redeemable again, and a late answer is discarded', async () => {
    const { client, card, intent, pair, filler } = await aShopper(service)
    const merchantUrl = 'https://shop.example.com/'
    const { id, token } = await bodyOf(
      client.checkout.createSession({ body: { intentId: intent.id, merchantUrl } }),
    )
    const redeem = (idempotencyKey: string) =>
      client.checkout.credential({ body: { token: String(token), fillerKeyId: filler.id }, idempotencyKey })
    const { promise, resolve } = Promise.withResolvers<EncryptedDisclosure>()
    pending = promise
    const first = redeem('first')
    await until('the ask is recorded', async () => (await lastAsk(client))?.decision === 'granted')
    expect(await redeem('meanwhile')).toMatchObject({ status: 410, code: 'session_redeemed' })
    await service.sql(
      `update idempotency_keys set created_at = now() - interval '10 minutes' where key = 'first'`,
    )
    expect(await redeem('first')).toMatchObject({ status: 503, code: 'disclosure_lost' })
    expect((await bodyOf(client.checkout.session({ params: { id } }))).status).toBe('open')
    resolve({ jwe: 'ey.too.late' })
    expect(await first).toMatchObject({ status: 503, code: 'disclosure_lost' })
    pending = undefined
    const replayed = await redeem('first')
    expect([replayed.code, replayed.headers.get('idempotent-replayed')]).toEqual(['disclosure_lost', 'true'])
    const { jwe } = await bodyOf(redeem('second'))
    expect(await opened(jwe, pair)).toEqual(cardDataOf(card.processorCardId))
    const { data } = await bodyOf(client.accessEvents.list({ query: { decision: 'granted' } }))
    expect(data.map(({ outcome }) => outcome)).toEqual(['disclosed', 'failed'])
  })
})
