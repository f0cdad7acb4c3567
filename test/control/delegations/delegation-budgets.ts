import { describe, expect, test } from '@jest/globals'
import { declareAll, declareOne, delegationsIn } from '../../support/control/delegations.ts'
import { aDelegation, aRun, aToken, bodyOf, type TestClient } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const { aDelegate, anOwnerWithAgent } = delegationsIn(service)

describe('the cap of a delegation', () => {
  test('is never exceeded by a hundred intents at once, nor left unused', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { tokenClient, params } = await aDelegate(client, agent.id, { maxAmountEuros: 7, label: 'Sub' })
    const answers = await declareAll(tokenClient, agent.id, Array(100).fill(1))
    const intents = answers.map(({ body }) => body)
    expect(intents.filter(({ status }) => status === 'approved')).toHaveLength(7)
    expect(new Set(intents.map(({ delegationId }) => delegationId))).toEqual(new Set([params.id]))
    const denied = intents.filter(({ status }) => status === 'denied')
    expect(denied).toHaveLength(93)
    for (const { decision } of denied)
      expect(decision.reason).toBe(
        'The budget of the delegation Sub of € 7.00 is reached: € 7.00 used, € 0.00 left.',
      )
    const { body } = await client.delegations.get({ params })
    expect(body).toMatchObject({ heldEuros: 7, spentEuros: 0, remainingEuros: 0 })
  })

  test('counts with those of the run and of all delegations above, and a denial names the narrowest', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegate(client, agent.id, { maxAmountEuros: 10, label: 'Root' })
    const leaf = await aDelegate(client, agent.id, {
      parentDelegationId: root.id,
      expiresInMinutes: 50,
      maxAmountEuros: 8,
      label: 'Leaf',
    })
    const run = await bodyOf(
      leaf.tokenClient.runs.create({ body: { agentId: agent.id, name: 'R', budgetEuros: 3 } }),
    )
    const reasonOf = async (by: TestClient, amount: number, runId: string | null, merchant: string) => {
      const body = { agentId: agent.id, amountEuros: amount, merchant, purpose: 'A paper', runId }
      return (await bodyOf(by.intents.create({ body }))).decision.reason
    }
    expect(await reasonOf(leaf.tokenClient, 4, run.id, 'A')).toMatch(/^The budget of the run R of € 3.00/)
    expect(await reasonOf(root.tokenClient, 6, null, 'B')).toMatch(/within the auto-approve limit/)
    expect(await reasonOf(leaf.tokenClient, 5, null, 'C')).toMatch(
      /^The budget of the delegation Root of € 10.00/,
    )
    expect(await reasonOf(leaf.tokenClient, 4, null, 'D')).toMatch(/within the auto-approve limit/)
    const left = async ({ params }: typeof root) => {
      const { heldEuros, remainingEuros } = await bodyOf(client.delegations.get({ params }))
      return [heldEuros, remainingEuros]
    }
    expect([await left(root), await left(leaf)]).toEqual([
      [10, 0],
      [4, 0],
    ])
  })

  test('is never exceeded in a tree of delegations and denies nothing that fits', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const caps: Record<string, { cap: number; path: string[]; tokenClient: TestClient }> = {}
    const add = async (name: string, cap: number, above?: string) => {
      const parent = above ? caps[above] : undefined
      const parentDelegationId = parent ? (parent.path.at(-1) as string) : null
      const expiresInMinutes = 60 - 5 * (parent?.path.length ?? 0)
      const { id, tokenClient } = await aDelegate(client, agent.id, {
        parentDelegationId,
        maxAmountEuros: cap,
        expiresInMinutes,
      })
      caps[name] = { cap, path: [...(parent?.path ?? []), id], tokenClient }
    }
    await add('root', 40)
    await add('left', 30, 'root')
    await add('right', 25, 'root')
    await add('leaf', 12, 'left')
    const delegations = Object.values(caps)
    const capOf = new Map(delegations.map(({ cap, path }) => [path.at(-1) as string, cap]))
    const requests = Array.from({ length: 96 }, (_, n) => ({
      by: delegations[n % 4] as (typeof delegations)[number],
      amount: ((n * 7) % 5) + 0.37,
      merchant: `Shop ${n}`,
    }))
    const answers = await Promise.all(
      requests.map(({ by, amount, merchant }) => declareOne(by.tokenClient, agent.id, amount, merchant)),
    )
    const used = new Map<string, number>()
    answers.forEach(({ status, amountEuros }, n) => {
      if (status !== 'approved') return
      for (const id of requests[n]?.by.path ?? [])
        used.set(id, (used.get(id) ?? 0) + Math.round(amountEuros * 100))
    })
    const usedOf = (id: string): number => used.get(id) ?? 0
    for (const [id, cap] of capOf) {
      expect(usedOf(id)).toBeLessThanOrEqual(cap * 100)
      const { heldEuros } = await bodyOf(client.delegations.get({ params: { id } }))
      expect(Math.round(heldEuros * 100)).toBe(usedOf(id))
    }
    answers.forEach(({ status, amountEuros }, n) => {
      const path = requests[n]?.by.path ?? []
      const isTooMuch = path.some(id => usedOf(id) + amountEuros * 100 > (capOf.get(id) ?? 0) * 100 + 0.001)
      expect([status, status === 'approved' || isTooMuch]).toEqual([status, true])
    })
    expect(answers.filter(({ status }) => status === 'approved').length).toBeGreaterThan(4)
    const { heldEuros } = await bodyOf(client.agents.balance({ params: agent }))
    expect(Math.round(heldEuros * 100)).toBe(usedOf(caps.root?.path[0] as string))
  })

  test('a delegation pays only its merchant, and a denial says so', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegation(client, agent.id, { merchant: 'Bookshop', label: 'Books' })
    const { tokenClient } = await aDelegate(client, agent.id, {
      parentDelegationId: root.id,
      expiresInMinutes: 50,
    })
    expect((await declareOne(tokenClient, agent.id, 1, 'BOOKSHOP')).status).toBe('approved')
    const denied = await declareOne(tokenClient, agent.id, 1, 'Bakery')
    expect([denied.status, denied.decision.reason]).toEqual([
      'denied',
      'The delegation Books is only for Bookshop, not for Bakery.',
    ])
  })

  test('reaches only intents declared with it, even with an idempotency key of another request', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { tokenClient, id } = await aDelegate(client, agent.id)
    const agentItself = service.client(String((await aToken(client, agent.id)).token))
    const others = await declareOne(agentItself, agent.id, 1, 'Bookshop')
    expect((await tokenClient.intents.get({ params: others })).code).toBe('intent_not_found')
    expect((await tokenClient.intents.cancel({ params: others, body: {} })).code).toBe('intent_not_found')
    const body = { agentId: agent.id, amountEuros: 2, merchant: 'Bakery', purpose: 'Bread' }
    const theirs = await bodyOf(agentItself.intents.create({ body, idempotencyKey: 'same' }))
    const own = await bodyOf(tokenClient.intents.create({ body, idempotencyKey: 'same' }))
    expect([theirs.delegationId, own.delegationId]).toEqual([null, id])
    expect((await bodyOf(tokenClient.intents.list())).data.map(({ id }) => id)).toEqual([own.id])
    expect((await bodyOf(tokenClient.delegations.list())).data.map(({ id }) => id)).toEqual([id])
  })

  test('spends in the runs of its agent, and ends its own', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { tokenClient, id } = await aDelegate(client, agent.id)
    const run = await aRun(client, agent.id)
    const own = await aRun(tokenClient, agent.id)
    expect([run.delegationId, own.delegationId]).toEqual([null, id])
    const body = {
      agentId: agent.id,
      amountEuros: 1,
      merchant: 'Bookshop',
      purpose: 'A paper',
      runId: run.id,
    }
    expect((await bodyOf(tokenClient.intents.create({ body }))).runId).toBe(run.id)
    expect((await tokenClient.runs.complete({ params: run, body: {} })).code).toBe('run_not_found')
    expect((await tokenClient.runs.fail({ params: own, body: { reason: 'No' } })).body.status).toBe('failed')
  })

  test('ends with it: no intent outlives its delegation', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { tokenClient, params } = await aDelegate(client, agent.id, { expiresInMinutes: 30 })
    const intent = await declareOne(tokenClient, agent.id, 5, 'Bookshop')
    expect(intent.expiresAt).toBe((await bodyOf(client.delegations.get({ params }))).expiresAt)
    await bodyOf(client.sandbox.advance({ body: { minutes: 30 } }))
    expect((await bodyOf(client.intents.get({ params: intent }))).status).toBe('expired')
    expect((await bodyOf(client.delegations.get({ params }))).heldEuros).toBe(0)
  })
})

test('the budget of a token is not exceeded by fifty intents at once, nor by approvals', async () => {
  const { client, agent } = await anOwnerWithAgent()
  const token = await aToken(client, agent.id, { maxAmountEuros: 3, label: 'Small' })
  const tokenClient = service.client(String(token.token))
  const answers = await declareAll(tokenClient, agent.id, Array(50).fill(1))
  expect(answers.filter(({ body }) => body.status === 'approved')).toHaveLength(3)
  const denied = answers.find(({ body }) => body.status === 'denied')
  expect(denied?.body.decision.reason).toContain('The budget of the token Small of € 3.00 is reached')
  expect((await declareOne(client, agent.id, 1, 'By the owner')).status).toBe('approved')
  const other = await aToken(client, agent.id, { maxAmountEuros: 100, label: 'Large' })
  const large = service.client(String(other.token))
  const waiting = [await declareOne(large, agent.id, 60, 'A'), await declareOne(large, agent.id, 60, 'B')]
  const approvals = waiting.map(({ id }) => client.intents.approve({ params: { id }, body: {} }))
  expect((await Promise.all(approvals)).map(({ status, code }) => code ?? status).toSorted()).toEqual([
    200,
    'against_policy',
  ])
})
