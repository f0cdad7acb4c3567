import { describe, expect, test } from '@jest/globals'
import { aFundedAgent, aPolicy, aToken, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anAssistant, textOf } from '../../support/http/assistant.ts'
import { aPerson } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })
const otherProcess = service.another()

async function anAgentThatAsks(rules: Parameters<typeof aPolicy>[1] = { autoApproveLimitEuros: 1 }) {
  const owner = await service.owner()
  const { client, key } = owner
  await aPerson(service, owner)
  await aPerson(service, owner)
  const agent = await aFundedAgent(client, { policyId: (await aPolicy(client, rules)).id })
  const { token } = await aToken(client, agent.id)
  return { client, key, token: String(token) }
}

const BOOK = { amountEuros: 10, merchant: 'Bookshop', purpose: 'A book' }

describe('an intent that waits for a person', () => {
  test('comes with the address of the page where it is decided', async () => {
    const { token } = await anAgentThatAsks()
    const { call } = await anAssistant(service.url, token)
    const waiting = await call('declare_intent', BOOK)
    const { id, status, approvalUrl } = waiting.structuredContent
    expect([status, new URL(approvalUrl).pathname]).toEqual(['created', `/approve/${id}`])
    expect(textOf(waiting)).toContain(approvalUrl)
    const looked = await call('wait_for_intent', { intentId: id, seconds: 0 })
    expect(looked.structuredContent).toMatchObject({ id, status: 'created', approvalUrl })
  })

  test('says how many approvals it has where the policy asks several people', async () => {
    const step = { aboveEuros: 5, of: 'owners', need: 2, withinMinutes: 60, then: 'deny' } as const
    const { token } = await anAgentThatAsks({ approval: [step] })
    const { call } = await anAssistant(service.url, token)
    const waiting = await call('declare_intent', BOOK)
    const { approvalUrl } = waiting.structuredContent
    expect(textOf(waiting)).toContain(
      `It has 0 of 2 approvals. The people whom the policy asks decide at ${approvalUrl}.`,
    )
  })

  test.each(['approved', 'denied'] as const)('is %s while the assistant waits', async outcome => {
    const { client, token } = await anAgentThatAsks()
    const { call } = await anAssistant(service.url, token)
    const { id } = (await call('declare_intent', BOOK)).structuredContent
    const waiting = call('wait_for_intent', { intentId: id })
    await bodyOf(
      outcome === 'approved'
        ? client.intents.approve({ params: { id }, body: {} })
        : client.intents.deny({ params: { id }, body: { reason: 'Too expensive' } }),
    )
    const decided = await waiting
    expect(decided.isError === true).toBe(outcome === 'denied')
    expect(decided.structuredContent.intent?.status ?? decided.structuredContent.status).toBe(outcome)
  })

  test('is heard of when another process has decided, by more who wait than may follow streams', async () => {
    const { key, token } = await anAgentThatAsks()
    const { call } = await anAssistant(service.url, token)
    const { id } = (await call('declare_intent', BOOK)).structuredContent
    const waiting = Array.from({ length: 25 }, () => call('wait_for_intent', { intentId: id }))
    const at = await otherProcess
    const approved = await fetch(new URL(`/intents/${id}/approve`, at), {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: '{}',
    })
    expect(approved.status).toBe(200)
    const decided = await Promise.all(waiting)
    expect(new Set(decided.map(({ structuredContent }) => structuredContent.status))).toEqual(
      new Set(['approved']),
    )
    expect(await service.sql('select from event_streams')).toEqual([])
  })

  test('an undecided intent is returned at the time limit', async () => {
    const { token } = await anAgentThatAsks()
    const { call } = await anAssistant(service.url, token)
    const { id } = (await call('declare_intent', BOOK)).structuredContent
    const waited = await call('wait_for_intent', { intentId: id, seconds: 1 })
    expect(waited.structuredContent).toMatchObject({ id, status: 'created' })
  })

  test('is shown to the person by a client that can open an address, and declared once', async () => {
    const { client, token } = await anAgentThatAsks()
    const opened: string[] = []
    const { call } = await anAssistant(service.url, token, { version: '2026-07-28', opened })
    const waiting = await call('declare_intent', BOOK)
    expect(opened).toEqual([waiting.structuredContent.approvalUrl])
    expect((await bodyOf(client.intents.list())).data).toHaveLength(1)
  })

  test('is the same one however long the person takes to look', async () => {
    const { client, token } = await anAgentThatAsks()
    const age = `update tool_calls set last_called_at = last_called_at - interval '11 minutes'`
    const late = async () => {
      await service.sql(age)
      return { action: 'accept' as const }
    }
    const { call } = await anAssistant(service.url, token, { version: '2026-07-28', opened: [], late })
    await call('declare_intent', BOOK)
    expect((await bodyOf(client.intents.list())).data).toHaveLength(1)
  })

  test('shows its present state when it is declared again', async () => {
    const { client, token } = await anAgentThatAsks()
    const { call } = await anAssistant(service.url, token)
    const { id } = (await call('declare_intent', BOOK)).structuredContent
    await bodyOf(client.intents.approve({ params: { id }, body: {} }))
    const again = await call('declare_intent', BOOK)
    expect(again.structuredContent).toMatchObject({ id, status: 'approved' })
  })
})
