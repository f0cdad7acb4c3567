import { describe, expect, test } from '@jest/globals'
import { aPolicy, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { aPerson } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })

describe('the versions of a policy', () => {
  const textsOf = async (client: TestClient, id: string, query = {}) => {
    const { data, nextCursor } = await bodyOf(client.policies.versions({ params: { id }, query }))
    return { texts: data.map(({ changes }) => changes.map(({ text }) => text)), nextCursor, data }
  }

  test('say what each one changed, across pages too', async () => {
    const { client } = await service.owner()
    const first = { name: 'Research', dailyLimitEuros: 50, merchantAllowlist: ['A', 'B'], cooldownMinutes: 5 }
    const { id } = await aPolicy(client, first)
    const second = {
      ...first,
      dailyLimitEuros: 70,
      merchantAllowlist: ['B', 'C'],
      cooldownMinutes: null,
      requireIntent: true,
      activeHoursStart: 9,
      amountTolerancePercent: 2.5,
      maxUsageCount: 1,
    }
    await bodyOf(client.policies.replace({ params: { id }, body: second }))
    await bodyOf(
      client.policies.replace({ params: { id }, body: { ...second, merchantAllowlist: ['C', 'B'] } }),
    )
    const { texts, data } = await textsOf(client, id)
    const changesInWords = [
      'Daily limit: € 50.00 → € 70.00',
      'Allowed merchants: added C; removed A',
      'Time between two spends: 5 minutes → none',
      'Cards need an approved intent: off → on',
      'First hour: none → 09:00 UTC',
      'Number of payments: none → 1 payment',
      'Tolerance of the amount: none → 2.5 %',
    ]
    expect(texts).toEqual([[], changesInWords, []])
    expect(data[1]?.changes[0]).toMatchObject({ field: 'dailyLimitEuros', from: 50, to: 70 })
    const firstPage = await textsOf(client, id, { limit: 1 })
    const secondPage = await textsOf(client, id, { limit: 1, cursor: String(firstPage.nextCursor) })
    expect([firstPage.texts, secondPage.texts]).toEqual([[[]], [changesInWords]])
  })

  test('say the steps of approval in words', async () => {
    const owner = await service.owner()
    await aPerson(service, owner, { role: 'owner' })
    const { client } = owner
    const { id } = await aPolicy(client, { name: 'Research' })
    const step = { aboveEuros: 100, of: 'owners', need: 1, withinMinutes: 60, then: 'deny' } as const
    for (const approval of [[step], [step], [{ ...step, withinMinutes: 30 }]])
      await bodyOf(client.policies.replace({ params: { id }, body: { name: 'Research', approval } }))
    const asked = (within: string) => `above € 100.00: an owner within ${within}, else deny`
    expect((await textsOf(client, id)).texts).toEqual([
      [`Steps of approval: ${asked('an hour')} → ${asked('30 minutes')}`],
      [],
      [`Steps of approval: none → ${asked('an hour')}`],
      [],
    ])
  })

  test('say in which order machine payments are made', async () => {
    const { client } = await service.owner()
    const { id } = await aPolicy(client, { name: 'Research' })
    for (const mppMethods of [
      ['card' as const, 'stripe' as const],
      ['stripe' as const, 'card' as const],
    ])
      await bodyOf(client.policies.replace({ params: { id }, body: { name: 'Research', mppMethods } }))
    expect((await textsOf(client, id)).texts).toEqual([
      ['Methods of machine payments: card, stripe → stripe, card'],
      ['Methods of machine payments: none → card, stripe'],
      [],
    ])
  })
})
