import { describe, expect, test } from '@jest/globals'
import { deciderOf, inDays, mandatesIn } from '../../support/control/mandates.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { enrolled } from '../../support/identity/people.ts'

const service = await startTestService({ own: true })
const { anOwnerWithAgent, aMandate, eventsOf } = mandatesIn(service, service.url)

type Subject = Awaited<ReturnType<typeof anOwnerWithAgent>>
type Mandate = Awaited<ReturnType<typeof aMandate>>

const get = ({ client }: Subject, params: Pick<Mandate, 'id'>) => bodyOf(client.mandates.get({ params }))
const refusal = async (answer: Promise<{ status: number; code?: string | undefined }>) => {
  const { status, code } = await answer
  return [status, code]
}

describe('a suspended mandate', () => {
  test('approves nothing until it is resumed; what it has approved stays so', async () => {
    const owner = await anOwnerWithAgent()
    const { client } = owner
    const params = await aMandate(owner, { totalEuros: 500 })
    const before = await owner.buy(20)
    const body = { comment: 'Until the invoice is clear' }
    expect(await bodyOf(client.mandates.suspend({ params, body }))).toMatchObject({
      status: 'suspended',
      suspendedBecause: 'requested',
      comment: body.comment,
    })
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    expect((await owner.simulate(20)).mandate).toBeNull()
    expect((await bodyOf(client.intents.get({ params: before }))).status).toBe('approved')
    expect(await refusal(client.mandates.suspend({ params, body: {} }))).toEqual([400, 'mandate_suspended'])
    expect(await bodyOf(client.mandates.resume({ params, body: {} }))).toMatchObject({
      status: 'active',
      suspendedBecause: null,
      comment: null,
    })
    expect(await refusal(client.mandates.resume({ params, body: {} }))).toEqual([400, 'mandate_active'])
    expect(deciderOf(await owner.buy(20))).toBe(params.id)
    expect(await eventsOf(params.id)).toEqual(['mandate.created', 'mandate.suspended', 'mandate.resumed'])
  })

  test('can be revoked, which is for good', async () => {
    const owner = await anOwnerWithAgent()
    const { client } = owner
    const params = await aMandate(owner, { totalEuros: 500 })
    await bodyOf(client.mandates.suspend({ params, body: {} }))
    const revoked = await bodyOf(client.mandates.revoke({ params, body: { comment: 'No longer needed' } }))
    expect(revoked).toMatchObject({ status: 'revoked', suspendedBecause: null, totalLeftEuros: 0 })
    expect(revoked.endedAt).not.toBeNull()
    for (const verb of ['suspend', 'resume', 'revoke'] as const)
      expect(await refusal(client.mandates[verb]({ params, body: {} }))).toEqual([400, 'mandate_over'])
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    expect(await eventsOf(params.id)).toEqual(['mandate.created', 'mandate.suspended', 'mandate.revoked'])
  })
})

describe('with its agent a mandate', () => {
  test('is suspended when that is frozen, and is not resumed before it is free again', async () => {
    const owner = await anOwnerWithAgent()
    const { client, id } = owner
    const params = await aMandate(owner, { totalEuros: 500 })
    await bodyOf(client.agents.freeze({ params: { id }, body: { reason: 'Odd' } }))
    expect(await get(owner, params)).toMatchObject({ status: 'suspended', suspendedBecause: 'agent_frozen' })
    expect(await refusal(client.mandates.resume({ params, body: {} }))).toEqual([400, 'agent_not_active'])
    await bodyOf(client.agents.unfreeze({ params: { id } }))
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    await bodyOf(client.mandates.resume({ params, body: {} }))
    expect(deciderOf(await owner.buy(20))).toBe(params.id)
  })

  test('is suspended when risk freezes that in the middle of spending', async () => {
    const owner = await anOwnerWithAgent()
    const params = await aMandate(owner, { totalEuros: 500 })
    const weights = { velocity: 0, amountOutlier: 0, impossibleTravel: 0, newMerchant: 95, oddHour: 0 }
    await bodyOf(owner.client.risk.configure({ body: { weights } }))
    expect((await owner.buy(20)).status).toBe('denied')
    expect((await bodyOf(owner.client.agents.get({ params: owner }))).status).toBe('frozen')
    expect(await get(owner, params)).toMatchObject({ status: 'suspended', suspendedBecause: 'agent_frozen' })
    expect(await eventsOf(params.id)).toEqual(['mandate.created', 'mandate.suspended'])
  })

  test('is suspended when that is deleted', async () => {
    const owner = await anOwnerWithAgent()
    const params = await aMandate(owner, { totalEuros: 500 })
    await bodyOf(owner.client.agents.delete({ params: owner }))
    expect(await get(owner, params)).toMatchObject({ status: 'suspended', suspendedBecause: 'agent_deleted' })
    expect(await refusal(owner.client.mandates.resume({ params, body: {} }))).toEqual([
      400,
      'agent_not_active',
    ])
    expect((await bodyOf(owner.client.mandates.revoke({ params, body: {} }))).status).toBe('revoked')
  })
})

describe('with its signer a mandate', () => {
  test('is suspended when that person is removed, and is never resumed', async () => {
    const owner = await anOwnerWithAgent()
    const { client } = owner
    const leaver = await enrolled(service, owner, { role: 'approver', by: owner.signer })
    const ofLeaver = await aMandate({ ...owner, signer: leaver }, { totalEuros: 500 })
    const ofOther = await aMandate(owner, { totalEuros: 30 })
    await bodyOf(client.people.remove({ params: { id: leaver.personId } }))
    expect(await get(owner, ofLeaver)).toMatchObject({
      status: 'suspended',
      suspendedBecause: 'signer_removed',
    })
    expect(await refusal(client.mandates.resume({ params: ofLeaver, body: {} }))).toEqual([
      400,
      'signer_removed',
    ])
    expect(deciderOf(await owner.buy(30))).toBe(ofOther.id)
    expect(deciderOf(await owner.buy(30))).toBe('nobody')
  })

  test('a mandate stays active when only a passkey is revoked', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { totalEuros: 500 })
    await bodyOf(owner.client.passkeys.revoke({ params: { id: owner.signer.passkeyId }, body: {} }))
    expect(deciderOf(await owner.buy(20))).toBe(mandate.id)
  })
})

describe('at its end a mandate', () => {
  test('expires by the owner’s clock, and approves nothing from that instant on', async () => {
    const owner = await anOwnerWithAgent()
    const { client } = owner
    const mandate = await aMandate(owner, { totalEuros: 500 }, { expiresAt: inDays(2) })
    const suspended = await aMandate(owner, { totalEuros: 500 }, { expiresAt: inDays(2) })
    await bodyOf(client.mandates.suspend({ params: suspended, body: {} }))
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(deciderOf(await owner.buy(20))).toBe(mandate.id)
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    for (const params of [mandate, suspended])
      expect(await get(owner, params)).toMatchObject({ status: 'expired', endedAt: expect.any(String) })
    expect(await eventsOf(mandate.id)).toEqual(['mandate.created', 'mandate.expired'])
  })

  test('an overdue mandate approves nothing, even before it is expired', async () => {
    const owner = await anOwnerWithAgent()
    const mandate = await aMandate(owner, { totalEuros: 500 })
    await service.sql(
      `insert into tenant_clocks values ($1, 'test', $2) on conflict (owner_id, mode) do update set offset_ms = $2`,
      [owner.ownerId, 31 * 86_400_000],
    )
    expect(deciderOf(await owner.buy(20))).toBe('nobody')
    const answer = await owner.client.mandates.suspend({ params: mandate, body: {} })
    expect([answer.status, answer.code]).toEqual([400, 'mandate_over'])
    expect(await get(owner, mandate)).toMatchObject({ totalLeftEuros: 0 })
  })
})
