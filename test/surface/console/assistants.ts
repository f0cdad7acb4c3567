import { describe, expect, test } from '@jest/globals'
import { aFundedAgent, bodyOf } from '../../support/factories.ts'
import { aVisitor, connectAssistant } from './visitors.ts'

describe('connected assistants', () => {
  test('are listed with who is verified, and each shows what it bought and can be disconnected', async () => {
    const visitor = await aVisitor()
    const { client } = visitor.owner
    const { id: agentId } = await aFundedAgent(client, { name: 'Scout' })
    const id = await connectAssistant(visitor.owner, agentId, 'Claude')
    const list = await visitor.read('console/assistants')
    expect(list.status).toBe(200)
    for (const shown of ['Connected assistants', 'Claude', 'Not verified', 'Scout', 'Disconnect'])
      expect(list.text).toContain(shown)
    expect(list.text).toMatch(/data-copy="http:\/\/[^"]+\/mcp"/)
    const page = await visitor.read(`console/assistants/${id}`)
    for (const shown of [
      'What it bought',
      'Bookshop',
      'with approval only',
      'Disconnect',
      'agentpay connected-assistants get',
    ])
      expect(page.text).toContain(shown)
    await bodyOf(client.connectedAssistants.disconnect({ params: { id } }))
    const ended = await visitor.read(`console/assistants/${id}`)
    expect(ended.text).toContain('Disconnected')
    expect(ended.text).not.toContain('data-operation=')
  })

  test('are not disconnected by a viewer', async () => {
    const { owner } = await aVisitor()
    const { id: agentId } = await aFundedAgent(owner.client)
    const id = await connectAssistant(owner, agentId, 'Claude')
    const { read } = await aVisitor('viewer', owner)
    expect((await read(`console/assistants/${id}`)).text).not.toContain('data-operation=')
  })
})
