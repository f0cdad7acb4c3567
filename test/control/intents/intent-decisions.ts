import { describe, expect, test } from '@jest/globals'
import { minutes } from '../../../src/values/clock.ts'
import { INSTANT, intentOf, intentsIn } from '../../support/control/intents.ts'
import { anIntent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'

const service = await startTestService({ own: true })
const { setClock, eventsOf, anOwnerWithAgent } = intentsIn(service)

describe('approving an intent', () => {
  test('records the decider, the time and the comment', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const before = await anIntent(client, agent.id)
    const [key] = (await client.keys.list()).body.data
    const params = { id: before.id }
    const answer = await client.intents.approve({ params, body: { comment: ' Go ahead ' } })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      ...before,
      status: 'approved',
      decidedAt: expect.stringMatching(INSTANT),
      decidedBy: { type: 'key', id: key?.id, name: null },
      comment: 'Go ahead',
      decision: { ...before.decision, id: answer.body.decision.id },
      updatedAt: answer.body.decidedAt,
    })
    expect(answer.body.decision.id).not.toBe(before.decision.id)
    expect(await intentOf(client, before.id)).toEqual(answer.body)
    expect(await traceOf(service, answer)).toEqual({
      events: ['intent.approved'],
      actions: ['intents.approve'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'intents', before.id)).toBe(1)
    expect((await eventsOf(before.id)).at(-1)).toEqual({
      event: 'intent.approved',
      data: {
        intentId: before.id,
        agentId: agent.id,
        status: 'approved',
        amountEuros: 25,
        merchant: 'Bookshop',
        reason: 'Go ahead',
      },
      agent_id: agent.id,
    })
  })

  test('needs no comment, and no body', async () => {
    const { client, key, agent } = await anOwnerWithAgent()
    const { id } = await anIntent(client, agent.id)
    const answer = await service.http('POST', `/intents/${id}/approve`, { token: key })
    expect(answer).toMatchObject({ status: 200, body: { status: 'approved', comment: null } })
  })

  test('happens once', async () => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 10 })
    const params = { id: (await anIntent(client, agent.id)).id }
    const approved = await bodyOf(client.intents.approve({ params, body: { comment: 'First' } }))
    const again = await client.intents.approve({ params, body: { comment: 'Second' } })
    expect(again).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    expect(again.error).toBe('The intent is already approved.')
    expect(await intentOf(client, params.id)).toEqual(approved)
    const alone = await anIntent(client, agent.id, { amountEuros: 1 })
    const needless = await client.intents.approve({ params: { id: alone.id } })
    expect(needless).toMatchObject({ status: 400, code: 'intent_not_waiting' })
  })

  test('is refused after the deadline, whether its expiry is recorded or not', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const { id } = await anIntent(client, agent.id, { expiresInMinutes: 10 })
    await setClock(ownerId, minutes(10) + 1)
    const late = await client.intents.approve({ params: { id } })
    expect(late).toMatchObject({ status: 400, code: 'intent_expired' })
    expect((await intentOf(client, id)).status).toBe('created')
    await bodyOf(client.sandbox.advance({ body: { seconds: 1 } }))
    const later = await client.intents.approve({ params: { id } })
    expect(later).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    expect(later.error).toBe('The intent is already expired.')
  })

  test('is refused while the agent is frozen, and once it is deleted', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const params = { id: (await anIntent(client, agent.id)).id }
    await bodyOf(client.agents.freeze({ params: { id: agent.id } }))
    expect(await client.intents.approve({ params })).toMatchObject({
      status: 400,
      code: 'agent_not_active',
      error: 'The agent is frozen: it cannot spend.',
    })
    const explanation = await bodyOf(client.intents.explanation({ params }))
    expect(explanation.summary).toBe('The intent waits for a person: The agent is frozen: it cannot spend.')
    expect(explanation.rules[0]).toMatchObject({
      rule: 'agentStatus',
      outcome: 'fail',
      remedy: 'Unfreeze the agent.',
    })
    await bodyOf(client.agents.delete({ params: { id: agent.id } }))
    expect((await client.intents.approve({ params })).error).toBe(
      'The agent is being deleted: it cannot spend.',
    )
    expect((await intentOf(client, params.id)).status).toBe('created')
  })

  test('is refused if the policy requires a passkey since the declaration', async () => {
    const { client, agent, params } = await anOwnerWithAgent({ autoApproveLimitEuros: 1 })
    const { id } = await anIntent(client, agent.id)
    await bodyOf(client.policies.toggle({ params, body: { field: 'requireAttestation', value: true } }))
    expect(await client.intents.approve({ params: { id } })).toMatchObject({
      status: 400,
      code: 'attestation_required',
    })
    await bodyOf(client.policies.toggle({ params, body: { field: 'requireAttestation', value: false } }))
    expect((await client.intents.approve({ params: { id } })).status).toBe(200)
  })
})

describe('denying an intent', () => {
  test('needs a reason, and records it', async () => {
    const { client, key, agent } = await anOwnerWithAgent()
    const before = await anIntent(client, agent.id)
    for (const body of [{}, { reason: '' }, { reason: ' ' }, { reason: 7 }, { reason: 'r'.repeat(1_001) }]) {
      const refused = await service.http('POST', `/intents/${before.id}/deny`, { token: key, body })
      expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('reason') } })
    }
    const answer = await client.intents.deny({ params: { id: before.id }, body: { reason: 'Too expensive' } })
    expect(answer.body).toEqual({
      ...before,
      status: 'denied',
      decidedAt: expect.stringMatching(INSTANT),
      decidedBy: { type: 'key', id: expect.stringMatching(/^key_/), name: null },
      comment: 'Too expensive',
      updatedAt: answer.body.decidedAt,
    })
    expect(await intentOf(client, before.id)).toEqual(answer.body)
    expect(await traceOf(service, answer)).toEqual({
      events: ['intent.denied'],
      actions: ['intents.deny'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'intents', before.id)).toBe(1)
    expect((await eventsOf(before.id)).at(-1)).toMatchObject({
      event: 'intent.denied',
      data: { status: 'denied', reason: 'Too expensive' },
    })
  })

  test('emits an excerpt of a long reason', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { id } = await anIntent(client, agent.id)
    const reason = 'r'.repeat(1_000)
    expect((await bodyOf(client.intents.deny({ params: { id }, body: { reason } }))).comment).toBe(reason)
    const data = (await eventsOf(id)).at(-1)?.data as { reason: string }
    expect(data.reason).toHaveLength(200)
  })

  test('is refused for an intent that does not wait', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 10 })
    const deny = (id: string) => client.intents.deny({ params: { id }, body: { reason: 'No' } })
    const approved = await anIntent(client, agent.id, { amountEuros: 1 })
    expect(await deny(approved.id)).toMatchObject({ status: 400, code: 'intent_not_waiting' })
    const { id } = await anIntent(client, agent.id)
    await bodyOf(deny(id))
    expect((await deny(id)).error).toBe('The intent is already denied.')
    expect((await client.intents.approve({ params: { id } })).code).toBe('intent_not_waiting')
    const late = await anIntent(client, agent.id, { expiresInMinutes: 1 })
    await setClock(ownerId, minutes(1) + 1)
    expect((await deny(late.id)).code).toBe('intent_expired')
  })
})

describe('cancelling an intent', () => {
  test('ends an intent that waits, and one that is approved and not paid yet', async () => {
    const { client, agent } = await anOwnerWithAgent({ autoApproveLimitEuros: 10 })
    const waiting = await anIntent(client, agent.id)
    const alone = await anIntent(client, agent.id, { amountEuros: 1 })
    const byHand = await anIntent(client, agent.id)
    await bodyOf(client.intents.approve({ params: { id: byHand.id }, body: { comment: 'Yes' } }))
    for (const { id } of [waiting, alone, byHand]) {
      const before = await intentOf(client, id)
      const answer = await client.intents.cancel({ params: { id } })
      expect(answer.body).toEqual({ ...before, status: 'cancelled', updatedAt: expect.any(String) })
      expect(await traceOf(service, answer)).toEqual({
        events: ['intent.cancelled'],
        actions: ['intents.cancel'],
        entries: 1,
      })
      expect(await transactionCount(service, answer, 'intents', id)).toBe(1)
    }
  })

  test('replaces the comment', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const [explained, wordless] = [await anIntent(client, agent.id), await anIntent(client, agent.id)]
    for (const { id } of [explained, wordless])
      await bodyOf(client.intents.approve({ params: { id }, body: { comment: 'Go ahead' } }))
    const cancel = (id: string, body: object) => bodyOf(client.intents.cancel({ params: { id }, body }))
    expect(await cancel(explained.id, { comment: ' Sold out ' })).toMatchObject({
      status: 'cancelled',
      comment: 'Sold out',
    })
    expect((await cancel(wordless.id, {})).comment).toBe('Go ahead')
    expect((await eventsOf(explained.id)).at(-1)?.data).toMatchObject({ reason: 'Sold out' })
  })

  test('is refused for an intent that has ended', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const ends: Record<string, (id: string) => Promise<unknown>> = {
      cancelled: id => bodyOf(client.intents.cancel({ params: { id } })),
      denied: id => bodyOf(client.intents.deny({ params: { id }, body: { reason: 'No' } })),
      expired: () => bodyOf(client.sandbox.advance({ body: { minutes: 1 } })),
    }
    for (const [status, end] of Object.entries(ends)) {
      const { id } = await anIntent(client, agent.id, { expiresInMinutes: 1 })
      await end(id)
      const answer = await client.intents.cancel({ params: { id } })
      expect(answer).toMatchObject({ status: 400, code: 'intent_closed' })
      expect(answer.error).toBe(`The intent is already ${status}.`)
      expect((await intentOf(client, id)).status).toBe(status)
    }
  })

  test('is refused after the deadline', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const { id } = await anIntent(client, agent.id, { expiresInMinutes: 1 })
    await setClock(ownerId, minutes(1) + 1)
    expect((await client.intents.cancel({ params: { id } })).code).toBe('intent_expired')
  })
})
