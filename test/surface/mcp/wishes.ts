import { describe, expect, test } from '@jest/globals'
import { aFundedAgent, anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant } from '../../support/http/assistant.ts'
import { anOwnerWithAssistant } from '../../support/http/proposing.ts'

const service = await startTestService({ own: true })

describe('what an agent wishes', () => {
  async function anAgentThatWishes() {
    const owner = await anOwnerWithAssistant(service)
    const { token } = await aToken(owner.client, owner.agent.id)
    const assistant = await anAssistant(service.url, String(token))
    return { ...owner, assistant, token: String(token) }
  }

  test('is proposed to the owner, who applies it', async () => {
    const { client, agent, assistant, token } = await anAgentThatWishes()
    const { id: policyId } = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const proposed = await assistant.call('propose_change', {
      operation: 'policies.replace',
      input: { id: policyId, name: 'Mine', dailyLimitEuros: 500 },
      reason: 'Please raise my limit.',
    })
    const { id } = proposed.structuredContent.proposal
    const own = service.client(token)
    expect((await own.proposals.apply({ params: { id }, body: {} })).code).toBe('wrong_caller')
    expect(await bodyOf(client.proposals.get({ params: { id } }))).toMatchObject({
      agentId: agent.id,
      reason: 'Please raise my limit.',
      proposedBy: { type: 'agent' },
    })
    await bodyOf(client.proposals.apply({ params: { id }, body: {} }))
    expect(await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))).toMatchObject({
      dailyLimitEuros: 500,
    })
  })

  test('says nothing of records that the agent may not see, and shows it no proposal of others', async () => {
    const { client, assistant, propose, token } = await anAgentThatWishes()
    const other = await aFundedAgent(client, { name: 'Other' })
    const refused = await assistant.call('propose_change', {
      operation: 'agents.freeze',
      input: { id: other.id },
    })
    expect(refused.structuredContent.error.code).toBe('not_found')
    const { id } = await propose('agents.freeze', { id: other.id })
    const own = service.client(token)
    expect((await own.proposals.get({ params: { id } })).status).toBe(404)
    expect((await bodyOf(own.proposals.list())).data).toEqual([])
  })

  test('may be that an intent is approved, and waits for a person all the same', async () => {
    const { client, agent, assistant } = await anAgentThatWishes()
    const intent = await anIntent(client, agent.id, { amountEuros: 20 })
    const proposed = await assistant.call('propose_change', {
      operation: 'intents.approve',
      input: { id: intent.id },
    })
    expect(proposed.structuredContent.proposal.status).toBe('open')
    expect((await bodyOf(client.intents.get({ params: { id: intent.id } }))).status).toBe('created')
  })
})
