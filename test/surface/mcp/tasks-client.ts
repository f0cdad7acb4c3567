import { afterAll, describe, expect, test } from '@jest/globals'
import {
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  type TaskEnabledSession,
  toolDeclaration,
} from '@modelcontextprotocol/ext-tasks/client'
import { taskId } from '@modelcontextprotocol/ext-tasks/core'
import { aFundedAgent, aPolicy, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant } from '../../support/http/assistant.ts'
import { forward } from '../../support/http/tasks.ts'

const service = await startTestService()

async function anAgentThatAsks() {
  const { client } = await service.owner()
  const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 1 })
  const { id: agentId } = await aFundedAgent(client, { policyId })
  const token = String((await aToken(client, agentId)).token)
  return { client, token }
}

const sessions: TaskEnabledSession[] = []
afterAll(() => Promise.all(sessions.map(session => session.close())))

/** A session of the protocol's own client for tasks, which writes the messages and reads the answers. */
async function aSession(token: string) {
  const { client } = await anAssistant(service.url, token, { version: '2026-07-28' })
  const session = createTaskSessionFromClient(client, {
    endpointId: 'agentpay',
    async rawDispatch(request) {
      const { method, params } = request as { method: string; params: Record<string, unknown> }
      const { result, error } = await forward({ url: service.url, token }, method, params)
      return error ? { kind: 'error', error } : { kind: 'result', result }
    },
    v2RequestFraming: {
      protocolVersion: '2026-07-28',
      clientInfo: { name: 'test', version: '1' },
      clientCapabilities: {},
    },
    // Jest has two kinds of objects, and the client's own list of tools takes one of them only.
    tools: { currentTool: name => toolDeclaration({ name, inputSchema: { type: 'object' } }) },
  })
  sessions.push(session)
  return session
}

const BOOK = { amountEuros: 10, merchant: 'Bookshop', purpose: 'A book' }

describe('the protocol’s own client for tasks', () => {
  test('gets a task, forgets it, and reads its result in another session', async () => {
    const { client, token } = await anAgentThatAsks()
    const session = await aSession(token)
    expect(session.capabilities).toMatchObject({ execution: true, cancellation: true, inputResponses: true })
    const execution = await session.callTool('declare_intent', BOOK)
    if (execution.kind !== 'task') throw new Error('the intent waits for a person')
    const reference = execution.serializeReference()
    await execution.detach()
    const approved = await bodyOf(client.intents.approve({ params: { id: reference.taskId }, body: {} }))
    const later = await aSession(token)
    const { outcome } = await (await later.resumeTask(reference)).settle()
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: approved })
  })

  test('gets an answer at once where no person is asked', async () => {
    const { token } = await anAgentThatAsks()
    const session = await aSession(token)
    const execution = await session.callTool('declare_intent', { ...BOOK, amountEuros: 0.5 })
    const { outcome } = await execution.settle()
    expect(execution.kind).toBe('immediate')
    expect(resultFromTaskOutcome(outcome)).toMatchObject({ structuredContent: { status: 'approved' } })
  })

  test('cancels a task', async () => {
    const { client, token } = await anAgentThatAsks()
    const session = await aSession(token)
    const execution = await session.callTool('declare_intent', BOOK)
    if (execution.kind !== 'task') throw new Error('the intent waits for a person')
    const { taskId: id } = execution.handle
    await execution.detach()
    const task = session.task(id)
    await task.update({})
    expect((await task.snapshot()).status).toBe('working')
    await task.cancel()
    expect((await task.result()).status).toBe('cancelled')
    expect((await bodyOf(client.intents.get({ params: { id } }))).status).toBe('cancelled')
  })

  test('is told of a task that is not there', async () => {
    const { token } = await anAgentThatAsks()
    const session = await aSession(token)
    await expect(session.task(taskId('intent_01jd8x2m4ye7k9v0c3q5r6t8wz')).snapshot()).rejects.toThrow(
      'no such task',
    )
  })
})
