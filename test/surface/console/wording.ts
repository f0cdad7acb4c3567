import { describe, expect, test } from '@jest/globals'
import { valueText } from '../../../src/surface/console/parts/text.ts'
import { anIntent, aPolicy, bodyOf } from '../../support/factories.ts'
import { aPayingOwner, pay } from '../../support/insight/paying.ts'
import { aVisitor, service } from './visitors.ts'

async function aPayer() {
  const paying = await aPayingOwner(service)
  return { ...paying, ...(await aVisitor('owner', paying)) }
}

describe('the wording of the console', () => {
  test('has one payment in the singular, and more in the plural', async () => {
    const { read, ...owner } = await aPayer()
    await pay(owner, 20)
    const { text } = await read('console/costs')
    expect(text).toContain('</data>, 1 payment</dd>')
    expect(text).toContain('</data>, 0 payments</dd>')
    expect(text).toContain('1 agent listed')
  })

  test('reads rules back with their zone and unit, whatever their number', async () => {
    const { owner, read } = await aVisitor()
    const { id } = await aPolicy(owner.client, {
      activeHoursStart: 8,
      activeHoursEnd: 18,
      cooldownMinutes: 1,
      expiresAfterMinutes: 1,
      maxUsageCount: 1,
    })
    const { text } = await read(`console/policies/${id}`)
    expect(text).toContain('Up to 1 payment in all.')
    expect(text).toContain(
      'From 8:00 UTC, until 18:00 UTC, 1 min between payments, expires after 1 min, then notify.',
    )
  })

  test('writes abbreviations in capitals, and the event of a record in words', async () => {
    const { owner, read } = await aVisitor()
    const wallet = await bodyOf(owner.client.wallets.create({ body: { name: 'Reports' } }))
    const body = { walletId: wallet.id, amountEuros: 12, description: 'Report', expiresInHours: 24 }
    const { id } = await bodyOf(owner.client.collect.create({ body }))
    expect((await read(`console/requests/${id}`)).text).toContain('Claim request created')
    expect(['sct', 'full_dlq', 'sepa_settle', 'idea'].map(valueText)).toEqual([
      'SEPA credit transfer',
      'Full DLQ',
      'SEPA settle',
      'Idea',
    ])
  })

  test('adds amounts to the cent', async () => {
    const { read, ...owner } = await aPayer()
    const { client, agent } = owner
    await bodyOf(client.policies.setBudget({ body: { dailyLimitEuros: 50, monthlyLimitEuros: 50 } }))
    const run = await bodyOf(
      client.runs.create({ body: { agentId: agent.id, name: 'Review', budgetEuros: 0.3 } }),
    )
    await pay(owner, 0.1)
    await anIntent(client, agent.id, { amountEuros: 0.2, runId: run.id })
    for (const path of [
      'console/agents',
      `console/agents/${agent.id}?tab=limits`,
      'console/settings',
      'console',
    ]) {
      const { text } = await read(path)
      expect([path, /value="0\.3"/.test(text), /value="\d+\.\d{3,}"/.exec(text)]).toEqual([path, true, null])
    }
  })
})
