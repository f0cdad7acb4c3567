import { describe, expect, test } from '@jest/globals'
import { codeOf, declareOne, delegationsIn, statusesOf } from '../../support/control/delegations.ts'
import { aDelegation, anAgent, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { traceOf, transactionCount } from '../../support/trace.ts'
import { until } from '../../support/until.ts'

const service = await startTestService({ own: true })
const { anyone, aDelegate, anOwnerWithAgent } = delegationsIn(service)

describe('the end of a delegation', () => {
  test('ends all below it in one transaction, and their tokens stop', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegate(client, agent.id)
    const below = { parentDelegationId: root.id, expiresInMinutes: 50 }
    const left = await aDelegate(client, agent.id, below)
    const right = await aDelegation(client, agent.id, below)
    const leaf = await aDelegate(client, agent.id, {
      parentDelegationId: left.id,
      expiresInMinutes: 40,
    })
    const beside = await aDelegate(client, agent.id)
    const answer = await client.delegations.revoke(root)
    expect(answer).toMatchObject({
      status: 200,
      body: { status: 'revoked', revokedAt: expect.any(String), remainingEuros: 0 },
    })
    expect(await traceOf(service, answer)).toMatchObject({
      events: [...Array(4).fill('delegation.revoked'), ...Array(3).fill('token.revoked')],
    })
    for (const { id } of [root, left, right, leaf])
      expect(await transactionCount(service, answer, 'delegations', id)).toBe(1)
    expect((await anyone.delegations.redeem(codeOf(right))).code).toBe('code_revoked')
    expect((await client.delegations.revoke(left)).code).toBe('delegation_over')
    for (const { tokenClient } of [root, left, leaf])
      await until('it stops', async () => (await tokenClient.agents.list()).status === 401)
    expect((await beside.tokenClient.agents.list()).status).toBe(200)
  })

  test('comes by the owner’s clock and is an event', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { id, params, tokenClient } = await aDelegate(client, agent.id)
    const unused = await aDelegation(client, agent.id, { expiresInMinutes: 30 })
    await bodyOf(client.sandbox.advance({ body: { minutes: 59 } }))
    expect(await statusesOf(client, [id, unused.id])).toEqual(['redeemed', 'expired'])
    await bodyOf(client.sandbox.advance({ body: { minutes: 1 } }))
    expect((await bodyOf(client.delegations.get({ params }))).status).toBe('expired')
    expect((await anyone.delegations.redeem(codeOf(unused))).code).toBe('code_expired')
    const events = await bodyOf(client.events.list({ query: { event: 'delegation.expired' } }))
    expect(events.data.map(({ data }) => data.delegationId)).toEqual([id, unused.id])
    await until('it stops', async () => (await tokenClient.agents.list()).status === 401)
    expect((await client.delegations.revoke({ params })).code).toBe('delegation_over')
  })

  test('comes with the deletion of its agent', async () => {
    const { client } = await service.owner()
    const agent = await anAgent(client)
    const { tokenClient, id } = await aDelegate(client, agent.id)
    const unused = await aDelegation(client, agent.id)
    const answer = await client.agents.delete({ params: agent })
    expect(await traceOf(service, answer)).toMatchObject({
      events: expect.arrayContaining(['agent.deleting', 'token.revoked', 'delegation.revoked']),
      entries: 4,
    })
    expect(await statusesOf(client, [id, unused.id])).toEqual(['revoked', 'revoked'])
    await until('it stops', async () => (await tokenClient.agents.list()).status === 401)
  })

  test('and the redeeming of its code at the same time leave no valid token', async () => {
    const { client, agent } = await anOwnerWithAgent()
    for (let round = 0; round < 5; round++) {
      const delegation = await aDelegation(client, agent.id)
      const [redemption] = await Promise.all([
        anyone.delegations.redeem(codeOf(delegation)),
        client.delegations.revoke({ params: delegation }),
      ])
      expect([201, 410]).toContain(redemption.status)
      const open = await service.sql(
        'select id from agent_tokens where delegation_id = $1 and revoked_at is null',
        [delegation.id],
      )
      expect(open).toEqual([])
    }
  })
})

describe('revoking a delegation', () => {
  test('cancels open intents under it and below, and releases their money', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegate(client, agent.id, { maxAmountEuros: 200 })
    const leaf = await aDelegate(client, agent.id, {
      parentDelegationId: root.id,
      expiresInMinutes: 50,
      maxAmountEuros: 100,
    })
    const beside = await declareOne(client, agent.id, 3, 'Beside')
    const open = [
      await declareOne(root.tokenClient, agent.id, 5, 'A'),
      await declareOne(leaf.tokenClient, agent.id, 7, 'B'),
      await declareOne(leaf.tokenClient, agent.id, 60, 'C'),
    ]
    expect(open.map(({ status }) => status)).toEqual(['approved', 'approved', 'created'])
    const answer = await client.delegations.revoke(root)
    expect(answer.body).toMatchObject({ heldEuros: 0, remainingEuros: 0 })
    expect(await traceOf(service, answer)).toMatchObject({
      events: expect.arrayContaining(Array(3).fill('intent.cancelled')),
    })
    for (const { id } of open) expect(await transactionCount(service, answer, 'intents', id)).toBe(1)
    const late = await client.intents.approve({ params: { id: String(open[2]?.id) }, body: {} })
    expect(late.code).toBe('intent_not_waiting')
    expect((await bodyOf(client.intents.get({ params: beside }))).status).toBe('approved')
    expect((await bodyOf(client.agents.balance({ params: agent }))).heldEuros).toBe(3)
    expect((await bodyOf(client.delegations.get({ params: leaf.params }))).heldEuros).toBe(0)
    expect((await bodyOf(client.ledger.verify())).ok).toBe(true)
  })

  test('and making another one below it at the same time leave none that is open', async () => {
    const { client, agent } = await anOwnerWithAgent()
    for (let round = 0; round < 10; round++) {
      const root = await aDelegate(client, agent.id, { maxAmountEuros: 200 })
      const below = {
        agentId: agent.id,
        parentDelegationId: root.id,
        expiresInMinutes: 50,
        maxAmountEuros: 100,
      }
      const [revoked, ...made] = await Promise.all([
        client.delegations.revoke(root),
        ...Array.from({ length: 5 }, () => client.delegations.create({ body: below })),
      ])
      expect(revoked.status).toBe(200)
      for (const { status, code } of made)
        expect([status, code]).toEqual(status === 201 ? [201, undefined] : [400, 'parent_over'])
      const open = await service.sql(
        `select id from delegations where parent_delegation_id = $1 and status in ('issued', 'redeemed')`,
        [root.id],
      )
      expect(open).toEqual([])
    }
  })

  test('lets nothing be approved afterwards, in the middle of a burst below it', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegate(client, agent.id, { maxAmountEuros: 2_000 })
    const { tokenClient, params } = await aDelegate(client, agent.id, {
      parentDelegationId: root.id,
      expiresInMinutes: 50,
      maxAmountEuros: 1_000,
    })
    const answers: { began: number; status: string | undefined; code: string | undefined }[] = []
    let over = false
    let count = 0
    const declareUntilOver = async (): Promise<void> => {
      while (!over) {
        const began = performance.now()
        const body = { agentId: agent.id, amountEuros: 1, merchant: `Shop ${count++}`, purpose: 'A paper' }
        const { status, code, ...answer } = await tokenClient.intents.create({ body })
        answers.push({ began, status: status === 201 ? answer.body.status : undefined, code })
      }
    }
    const declarations = Promise.all(Array.from({ length: 48 }, declareUntilOver))
    await until('some are approved', async () => answers.length > 200)
    const answer = await client.delegations.revoke(root)
    const revoked = performance.now()
    await until('a request after the revocation is answered', async () =>
      answers.some(({ began }) => began > revoked),
    )
    over = true
    await declarations
    expect(answer.status).toBe(200)
    expect(answers.filter(({ began, status }) => began > revoked && status === 'approved')).toEqual([])
    const refusals = new Set(answers.flatMap(({ code }) => code ?? []))
    expect([...refusals].filter(code => !/^(delegation_over|unauthenticated)$/.test(code))).toEqual([])
    expect(refusals.size).toBeGreaterThan(0)
    const open = await service.sql(
      `select id from intents where delegation_id = $1 and status in ('created', 'approved')`,
      [params.id],
    )
    expect(open).toEqual([])
    expect((await bodyOf(client.agents.balance({ params: agent }))).heldEuros).toBe(0)
  })
})
