import './outcomes/summary.ts'
import { describe, expect, test } from '@jest/globals'
import { aDelegation, anIntent, aToken, bodyOf, redeemDelegation } from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'
import { aPayingOwner, pay } from '../support/insight/paying.ts'
import { traceOf, transactionCount } from '../support/trace.ts'

const service = await startTestService()

describe('an outcome', () => {
  test('is reported once, with its event, and listed', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, ownerId } = owner
    const { intent } = await pay(owner, 12)
    const body = {
      intentId: intent.id,
      success: true,
      valueEuros: 40.5,
      note: 'Cited',
      metadata: { team: 'a' },
    }
    const answer = await client.outcomes.create({ body })
    expect(answer.status).toBe(201)
    expect(answer.body).toEqual({
      ...body,
      id: expect.stringMatching(/^outcome_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      agentId: agent.id,
      runId: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(await traceOf(service, answer)).toEqual({
      events: ['outcome.reported'],
      actions: ['outcomes.create'],
      entries: 1,
    })
    expect(await transactionCount(service, answer, 'outcomes', answer.body.id)).toBe(1)
    expect((await client.outcomes.get({ params: answer.body })).body).toEqual(answer.body)
    const found = async (query: object) =>
      (await bodyOf(client.outcomes.list({ query }))).data.map(({ id }) => id)
    expect(await found({ intentId: intent.id, success: 'true', agentId: agent.id })).toEqual([answer.body.id])
    expect(await found({ success: 'false' })).toEqual([])
  })

  test('is one per intent, even among eight at once, and again under the same key', async () => {
    const owner = await aPayingOwner(service)
    const { client } = owner
    const { intent } = await pay(owner, 12)
    const body = { intentId: intent.id, success: true }
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => client.outcomes.create({ body, idempotencyKey: `report-${n}` })),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'outcome_reported')).toHaveLength(7)
    const index = answers.findIndex(({ status }) => status === 201)
    const again = await client.outcomes.create({ body, idempotencyKey: `report-${index}` })
    expect([again.status, again.body]).toEqual([201, answers[index]?.body])
  })

  test('belongs to an intent of the caller, never of another owner, agent or delegation', async () => {
    const owner = await aPayingOwner(service)
    const { client, agent, holder } = owner
    const intent = await anIntent(client, holder.id)
    const { token } = await aToken(client, agent.id)
    const stranger = (await service.owner()).client
    const body = { intentId: intent.id, success: false }
    const delegated = await redeemDelegation(client, await aDelegation(client, holder.id))
    for (const by of [stranger, service.client(String(token)), service.client(String(delegated.token))])
      expect(await by.outcomes.create({ body })).toMatchObject({ status: 404, code: 'intent_not_found' })
    const outcome = await bodyOf(client.outcomes.create({ body }))
    for (const by of [stranger, service.client(String(token)), service.client(String(delegated.token))]) {
      expect((await by.outcomes.get({ params: outcome })).code).toBe('outcome_not_found')
      const changed = await by.outcomes.update({ params: outcome, body: { success: true } })
      expect(changed).toMatchObject({ status: 404, code: 'outcome_not_found' })
      expect((await bodyOf(by.outcomes.list())).data).toEqual([])
    }
    const own = service.client(String((await aToken(client, holder.id)).token))
    expect((await bodyOf(own.outcomes.get({ params: outcome }))).id).toBe(outcome.id)
  })

  test('is corrected, and what stood there before stays in the trail', async () => {
    const owner = await aPayingOwner(service)
    const { client } = owner
    const { intent } = await pay(owner, 12)
    const body = {
      intentId: intent.id,
      success: true,
      valueEuros: 40,
      note: 'Cited',
      metadata: { team: 'a' },
    }
    const params = await bodyOf(client.outcomes.create({ body }))
    const correction = { success: false, valueEuros: null, note: 'Cited', metadata: { team: 'b' } }
    const answer = await client.outcomes.update({ params, body: correction })
    expect(answer.body).toMatchObject(correction)
    expect(await traceOf(service, answer)).toMatchObject({ events: ['outcome.corrected'] })
    const { data } = await bodyOf(client.events.list({ query: { event: 'outcome.corrected' } }))
    expect(data[0]?.data).toMatchObject({
      success: false,
      valueEuros: null,
      before: { success: true, valueEuros: 40, metadata: [{ name: 'team', text: 'a' }] },
    })
    expect(data[0]?.data).not.toHaveProperty('before.note')
    const same = await client.outcomes.update({ params, body: correction })
    expect(same.body).toEqual(answer.body)
    expect(await traceOf(service, same)).toMatchObject({ events: [] })
  })

  test('refuses an invalid outcome', async () => {
    const owner = await aPayingOwner(service)
    const intent = await anIntent(owner.client, owner.agent.id)
    for (const [member, value] of [
      ['success', 'yes'],
      ['valueEuros', -1],
      ['valueEuros', 0.001],
      ['valueEuros', 1e12],
      ['note', ''],
      ['note', 'x'.repeat(1_001)],
      ['metadata', { a: 1 }],
    ] as const) {
      const body = { intentId: intent.id, success: true, [member]: value }
      const answer = await owner.client.outcomes.create({ body: body as never })
      expect([member, answer.status, answer.error]).toEqual([member, 400, expect.stringContaining(member)])
    }
    expect((await bodyOf(owner.client.outcomes.list())).data).toEqual([])
  })
})
