import { describe, expect, test } from '@jest/globals'
import type { EncryptedDisclosure, ProcessorFailure } from '../../../src/ports/card-processor.ts'
import { aShopper, jwkOf, lastAsk, processorWith } from '../../support/cards/reveal.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf } from '../../support/trace.ts'
import { until } from '../../support/until.ts'

let answer: EncryptedDisclosure | ProcessorFailure
const service = await startTestService({ outside: processorWith({ disclose: async () => answer }) })

const refused = (message: string): ProcessorFailure => ({ failure: 'refused', code: 'not_live', message })

describe('a card that the processor does not disclose', () => {
  test.each<[string, ProcessorFailure, number, string, RegExp]>([
    ['in time', { failure: 'late' }, 504, 'processor_silent', /Try again with a new Idempotency-Key/],
    ['readably', { failure: 'unusable' }, 502, 'processor_unusable', /cannot be used/],
    ['at all', refused('The card is not live.'), 502, 'processor_refused', /The card is not live\.$/],
    [
      'without naming it',
      refused('No card 4242424242424242.'),
      502,
      'processor_refused',
      /disclose the card\.$/,
    ],
  ])('%s is a refusal, and the outcome is recorded', async (_, failure, status, code, words) => {
    const { client, card, intent, pair } = await aShopper(service)
    answer = failure
    const body = { intentId: intent.id, purpose: 'Try', publicKeyJwk: jwkOf(pair) }
    const refusal = await client.accessEvents.access({ params: { id: card.id }, body })
    expect([refusal.status, refusal.code]).toEqual([status, code])
    expect(refusal.error).toMatch(words)
    expect(await traceOf(service, refusal)).toMatchObject({
      events: ['card.access_granted', 'card.access_failed'],
    })
    const event = await lastAsk(client)
    expect(event).toMatchObject({ decision: 'granted', outcome: 'failed', failure: { code } })
    expect(JSON.stringify([event?.failure, event?.reasons])).not.toContain('4242')
  })

  test('a disclosure that was interrupted before its answer was recorded reached no one', async () => {
    const { client, card, intent, pair } = await aShopper(service)
    const { promise, resolve } = Promise.withResolvers<EncryptedDisclosure>()
    answer = promise as unknown as EncryptedDisclosure
    const body = { intentId: intent.id, purpose: 'Try', publicKeyJwk: jwkOf(pair) }
    const ask = () => client.accessEvents.access({ params: { id: card.id }, body, idempotencyKey: 'lost-1' })
    const first = ask()
    const reserved = await until('the ask is recorded', () => lastAsk(client))
    expect(reserved).toMatchObject({ decision: 'granted', outcome: null })
    await service.sql(
      `update idempotency_keys set created_at = now() - interval '10 minutes' where key = 'lost-1'`,
    )
    const again = await ask()
    expect([again.status, again.code]).toEqual([503, 'disclosure_lost'])
    expect(await lastAsk(client)).toMatchObject({ outcome: 'failed', failure: { code: 'disclosure_lost' } })
    resolve({ jwe: 'ey.too.late' })
    const late = await first
    expect([late.status, late.error]).toEqual([503, again.error])
  })

  test('a nonce is refused with 503 by a processor without elements', async () => {
    const { client, card, intent } = await aShopper(service)
    const body = { intentId: intent.id, purpose: 'Try', nonce: 'ephkn_1' }
    const refusal = await client.accessEvents.access({ params: { id: card.id }, body })
    expect([refusal.status, refusal.code]).toEqual([503, 'ephemeral_keys_missing'])
    expect(await lastAsk(client)).toMatchObject({ decision: 'denied' })
  })
})
