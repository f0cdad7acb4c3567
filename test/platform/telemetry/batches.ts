import { expect, test } from '@jest/globals'
import { times } from '../../support/at-once.ts'
import { aFundedAgent, anIntent } from '../../support/factories.ts'
import { until } from '../../support/until.ts'
import { aTrace, collector, service, spansOf } from './service.ts'

const BURST = 24

test('requests that share a transaction have a span each, and one of the whole links to them', async () => {
  const { client } = await service.owner()
  const agent = await aFundedAgent(client)
  const wholes = () => collector.spans().filter(({ name }) => name === 'transaction batch')
  const traces: string[] = []
  await until('a batch is collected', async () => {
    const sent = await times(BURST, async () => {
      const { traceId, sending } = aTrace()
      await client.intents.create({
        body: { agentId: agent.id, merchant: 'Bookshop', amountEuros: 1, purpose: 'A page' },
        ...sending,
      })
      return traceId
    })
    traces.push(...sent)
    return wholes().length > 0
  })
  const [whole] = wholes()
  const linked = collector.spans().filter(span => whole?.links.includes(`${span.traceId} ${span.spanId}`))
  expect(linked.length).toBeGreaterThan(1)
  expect(Number(whole?.attributes['agentpay.batch_size'])).toBe(linked.length)
  expect(new Set(linked.map(({ traceId }) => traceId)).size).toBe(linked.length)
  expect(linked.map(({ name }) => name)).toEqual(linked.map(() => 'transaction'))
  for (const { traceId } of linked) {
    expect(traces).toContain(traceId)
    await until('its operation is collected', () =>
      spansOf(traceId).some(({ name }) => name === 'intents.create'),
    )
  }
  await anIntent(client, agent.id)
})
