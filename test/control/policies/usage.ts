import { expect, test } from '@jest/globals'
import { anAgentUnder, anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()

test('the usage of agents says what each has reserved and spent today and this month, and what its policy leaves', async () => {
  const { client } = await service.owner()
  const rules = { name: 'Books', dailyLimitEuros: 100, autoApproveLimitEuros: 100 }
  const [spender, idle] = [await anAgentUnder(client, rules), await anAgentUnder(client, { name: 'Idle' })]
  await anIntent(client, spender.id, { amountEuros: 30 })
  const { data } = await bodyOf(client.policies.usage())
  expect(data.map(({ id }) => id)).toEqual([idle.id, spender.id])
  const [unused, used] = data
  expect(used?.day).toEqual({ limitEuros: 100, heldEuros: 30, spentEuros: 0, remainingEuros: 70 })
  expect(used?.month).toEqual({ limitEuros: null, heldEuros: 30, spentEuros: 0, remainingEuros: null })
  expect(used?.heldEuros).toBe(30)
  expect(unused?.day).toEqual({ limitEuros: null, heldEuros: 0, spentEuros: 0, remainingEuros: null })
  expect(unused?.lastSpendAt).toBeNull()
})

test('the usage lists the owner’s agents, or the requested one', async () => {
  const [one, other] = await Promise.all([service.owner(), service.owner()])
  const agent = await anAgentUnder(one.client, { name: 'Books' })
  await anAgentUnder(one.client, { name: 'More books' })
  const asked = await bodyOf(one.client.policies.usage({ query: { agentId: agent.id } }))
  expect(asked.data.map(({ id }) => id)).toEqual([agent.id])
  expect((await bodyOf(other.client.policies.usage())).data).toEqual([])
  expect((await bodyOf(other.client.policies.usage({ query: { agentId: agent.id } }))).data).toEqual([])
})
