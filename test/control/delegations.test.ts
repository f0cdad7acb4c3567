import { describe, expect, test } from '@jest/globals'
import {
  aDelegation,
  aKey,
  aLiveClient,
  anAgent,
  anAgentUnder,
  aRun,
  aToken,
  made,
  redeemed,
  type TestClient,
} from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'
import { tablesWith, traceOf, transactionsOf } from '../support/trace.ts'
import { until } from '../support/until.ts'

const house = await startHouse()

async function anOwnerWithAgent() {
  const owner = await house.owner()
  const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 50 })
  return { ...owner, agent }
}

const anyone = house.client()

/** A delegation that has been redeemed, and the client of whoever has the token. */
async function aDelegate(
  client: TestClient,
  agentId: string,
  members: Parameters<typeof aDelegation>[2] = {},
) {
  const { id, token } = await redeemed(anyone, await aDelegation(client, agentId, members))
  return { id, params: { id }, token: String(token), itself: house.client(String(token)) }
}

const codeOf = ({ code }: { code: string | null }) => ({ body: { code: String(code) } })

const statusesOf = async (client: TestClient, ids: readonly string[]) =>
  Promise.all(ids.map(async id => (await made(client.delegations.get({ params: { id } }))).status))

describe('a delegation', () => {
  test('is made with a code that is shown once and kept nowhere', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const body = { agentId: agent.id, maxAmountEuros: 20, expiresInMinutes: 60, label: 'Subcontractor' }
    const answer = await client.delegations.create({ body, idempotencyKey: 'one' })
    const { code, ...record } = answer.body
    expect(code).toMatch(/^dlg_[0-9A-Za-z]{43}$/)
    expect(record).toEqual({
      id: expect.stringMatching(/^delegation_[0-9a-z]{26}$/),
      ownerId,
      mode: 'test',
      agentId: agent.id,
      parentDelegationId: null,
      label: 'Subcontractor',
      merchant: null,
      status: 'issued',
      maxAmountEuros: 20,
      spentEuros: 0,
      reservedEuros: 0,
      remainingEuros: 20,
      hint: code?.slice(-4),
      codeExpiresAt: record.expiresAt,
      expiresAt: expect.any(String),
      redeemedAt: null,
      tokenId: null,
      revokedAt: null,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    })
    expect(await traceOf(house, answer)).toMatchObject({ events: ['delegation.created'], entries: 1 })
    expect(await transactionsOf(house, answer, 'delegations', record.id)).toBe(1)
    expect((await client.delegations.create({ body, idempotencyKey: 'one' })).body.code).toBe(null)
    expect(await tablesWith(house, String(code))).toEqual([])
    expect((await client.delegations.get({ params: record })).body).toEqual(record)
    expect((await client.delegations.list({ query: { status: 'issued' } })).body.data).toEqual([record])
  })

  test('waits a day at most for whoever has the code', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const long = await aDelegation(client, agent.id, { expiresInMinutes: 10_000 })
    expect(Date.parse(long.codeExpiresAt) - Date.parse(long.createdAt)).toBe(86_400_000)
    await made(client.sandbox.advance({ body: { days: 1 } }))
    expect(await anyone.delegations.redeem(codeOf(long))).toMatchObject({ status: 410, code: 'code_expired' })
  })

  test('is of an agent that is there, the owner’s own and of the same mode', async () => {
    const owner = await anOwnerWithAgent()
    const stranger = await anOwnerWithAgent()
    const live = await aLiveClient(house, owner)
    const body = { agentId: owner.agent.id, maxAmountEuros: 1, expiresInMinutes: 1 }
    for (const client of [stranger.client, live])
      expect(await client.delegations.create({ body })).toMatchObject({
        status: 404,
        code: 'agent_not_found',
      })
    const { id } = await aDelegation(owner.client, owner.agent.id)
    for (const client of [stranger.client, live]) {
      expect((await client.delegations.get({ params: { id } })).code).toBe('delegation_not_found')
      expect((await client.delegations.revoke({ params: { id } })).code).toBe('delegation_not_found')
    }
  })

  test.each([
    ['nothing', { maxAmountEuros: 0 }, 'maxAmountEuros'],
    ['a third decimal', { maxAmountEuros: 0.001 }, 'maxAmountEuros'],
    ['no time', { expiresInMinutes: 0 }, 'expiresInMinutes'],
    ['more than a year', { expiresInMinutes: 525_601 }, 'expiresInMinutes'],
    ['an empty merchant', { merchant: ' ' }, 'merchant'],
  ])('is refused with %s, and nothing is made', async (_, wrong, named) => {
    const { client, key, agent } = await anOwnerWithAgent()
    const body = { agentId: agent.id, maxAmountEuros: 1, expiresInMinutes: 1, ...wrong }
    const answer = await house.http('POST', '/authorizations', { token: key, body })
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(named)])
    expect((await made(client.delegations.list())).data).toEqual([])
  })

  test('is made by keys alone', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { itself, params } = await aDelegate(client, agent.id)
    const body = { agentId: agent.id, maxAmountEuros: 1, expiresInMinutes: 1, parentDelegationId: params.id }
    for (const answer of [
      await itself.delegations.create({ body }),
      await itself.delegations.revoke({ params }),
      await itself.agentTokens.create({ params: agent, body: { label: 'More' } }),
    ])
      expect(answer).toMatchObject({ status: 403, code: 'wrong_caller' })
  })
})

describe('below another one it is never wider', () => {
  test('in amount, time, merchant or agent', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const other = await anAgent(client)
    const parent = await aDelegation(client, agent.id, { maxAmountEuros: 10, merchant: 'Bookshop' })
    const parentDelegationId = parent.id
    const fine = { agentId: agent.id, maxAmountEuros: 10, expiresInMinutes: 59, parentDelegationId }
    const wrong = [
      [{ maxAmountEuros: 10.01 }, 400, 'wider_amount', /^maxAmountEuros: the parent has € 10.00 left/],
      [{ expiresInMinutes: 61 }, 400, 'wider_time', /^expiresInMinutes: the parent lasts 59 minutes more/],
      [{ merchant: 'Bakery' }, 400, 'wider_merchant', /^merchant: the parent is good for Bookshop only/],
      [{ merchant: 'Bооkshop' }, 400, 'wider_merchant', /^merchant/],
      [{ agentId: other.id }, 400, 'parent_of_other_agent', /^agentId/],
      [{ parentDelegationId: 'delegation_01jd8x2m4ye7k9v0c3q5r6t8wz' }, 404, 'parent_not_found', /^parent/],
    ] as const
    for (const [members, status, code, words] of wrong)
      expect(await client.delegations.create({ body: { ...fine, ...members } })).toMatchObject({
        ...{ status, code },
        error: expect.stringMatching(words),
      })
    const child = await aDelegation(client, agent.id, fine)
    expect(child).toMatchObject({ merchant: 'Bookshop', remainingEuros: 10, parentDelegationId })
    const named = await aDelegation(client, agent.id, { ...fine, merchant: 'bookshop ' })
    expect(named.merchant).toBe('bookshop')
    const query = { parentDelegationId }
    expect((await made(client.delegations.list({ query }))).data.map(({ id }) => id)).toEqual([
      named.id,
      child.id,
    ])
  })

  test('nor below one that is over, nor deeper than eight', async () => {
    const { client, agent } = await anOwnerWithAgent()
    let parentDelegationId: string | null = null
    const family: string[] = []
    for (let depth = 0; depth <= 8; depth++) {
      const expiresInMinutes = 60 - depth
      const one = await aDelegation(client, agent.id, { parentDelegationId, expiresInMinutes })
      parentDelegationId = one.id
      family.push(one.id)
    }
    const body = { agentId: agent.id, maxAmountEuros: 1, expiresInMinutes: 1, parentDelegationId }
    expect((await client.delegations.create({ body })).code).toBe('parent_too_deep')
    await made(client.delegations.revoke({ params: { id: String(family[3]) } }))
    expect((await client.delegations.create({ body })).code).toBe('parent_over')
    expect(await statusesOf(client, family)).toEqual([
      ...Array(3).fill('issued'),
      ...Array(6).fill('revoked'),
    ])
  })
})

describe('a code', () => {
  test('is redeemed once, by whoever has it, for a token of the agent', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const delegation = await aDelegation(client, agent.id)
    const answer = await anyone.delegations.redeem(codeOf(delegation))
    expect(answer).toMatchObject({ status: 201, body: { id: delegation.id, ownerId, status: 'redeemed' } })
    expect(await traceOf(house, answer)).toMatchObject({
      events: ['token.created', 'delegation.redeemed'],
      entries: 2,
    })
    const { token, tokenId } = answer.body
    expect(token).toMatch(/^at_dlg_[0-9A-Za-z]{43}$/)
    expect(await tablesWith(house, String(token))).toEqual([])
    const params = { id: agent.id, tokenId: String(tokenId) }
    expect((await client.agentTokens.get({ params })).body).toMatchObject({
      delegationId: delegation.id,
      scopes: expect.arrayContaining(['intents:write', 'runs:write']),
    })
    const itself = house.client(String(token))
    expect((await made(itself.agents.list())).data.map(({ id }) => id)).toEqual([agent.id])
    const again = await anyone.delegations.redeem(codeOf(delegation))
    expect(again).toMatchObject({ status: 410, code: 'code_used' })
  })

  test('is redeemed by one of a hundred at once', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const delegation = await aDelegation(client, agent.id)
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => anyone.delegations.redeem(codeOf(delegation))),
    )
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(answers.filter(({ code }) => code === 'code_used')).toHaveLength(99)
    const tokens = await house.sql('select id from agent_tokens where delegation_id = $1', [delegation.id])
    expect(tokens).toHaveLength(1)
  })

  test('that is wrong, half or of something else opens nothing', async () => {
    const { client, key, agent } = await anOwnerWithAgent()
    const { code } = await aDelegation(client, agent.id)
    const { token } = await aToken(client, agent.id)
    for (const wrong of [
      String(code).slice(0, -1),
      `${code}x`,
      String(code).toUpperCase(),
      key,
      String(token),
    ])
      expect(await anyone.delegations.redeem({ body: { code: wrong } })).toMatchObject({
        status: 404,
        code: 'code_not_found',
      })
    expect((await house.http('GET', '/agents', { token: String(code) })).status).toBe(401)
    expect((await anyone.delegations.redeem({ body: { code: String(code) } })).status).toBe(201)
  })

  test('gives no more than the key that made the delegation has, and nothing of an owner who is suspended', async () => {
    const { client, ownerId, agent } = await anOwnerWithAgent()
    const scopes = ['delegations:write' as const, 'intents:read' as const]
    const narrow = house.client(String((await aKey(client, { scopes })).key))
    const { tokenId } = await redeemed(anyone, await aDelegation(narrow, agent.id))
    const params = { id: agent.id, tokenId: String(tokenId) }
    expect((await made(client.agentTokens.get({ params }))).scopes).toEqual(['intents:read'])
    const other = await aDelegation(client, agent.id)
    await made(house.dash.customers.update({ params: { id: ownerId }, body: { status: 'suspended' } }))
    expect((await anyone.delegations.redeem(codeOf(other))).code).toBe('code_not_found')
  })

  test('has an idempotency key that strangers can neither take nor read', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const [mine, theirs] = [await aDelegation(client, agent.id), await aDelegation(client, agent.id)]
    const idempotencyKey = 'guessed'
    const stranger = await anyone.delegations.redeem({ body: { code: 'dlg_guess' }, idempotencyKey })
    expect(stranger.code).toBe('code_not_found')
    const first = await anyone.delegations.redeem({ ...codeOf(mine), idempotencyKey })
    const other = await anyone.delegations.redeem({ ...codeOf(theirs), idempotencyKey })
    expect([first.status, other.status]).toEqual([201, 201])
    const again = await anyone.delegations.redeem({ ...codeOf(mine), idempotencyKey })
    expect(again).toMatchObject({ status: 201, body: { ...first.body, token: null } })
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })
})

describe('the end of a delegation', () => {
  test('is one transaction for all below it, and their tokens stop', async () => {
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
    expect(await traceOf(house, answer)).toMatchObject({
      events: [...Array(4).fill('delegation.revoked'), ...Array(3).fill('token.revoked')],
    })
    for (const { id } of [root, left, right, leaf])
      expect(await transactionsOf(house, answer, 'delegations', id)).toBe(1)
    expect((await anyone.delegations.redeem(codeOf(right))).code).toBe('code_revoked')
    expect((await client.delegations.revoke(left)).code).toBe('delegation_over')
    for (const { itself } of [root, left, leaf])
      await until('it stops', async () => (await itself.agents.list()).status === 401)
    expect((await beside.itself.agents.list()).status).toBe(200)
  })

  test('comes by the owner’s clock, and is told', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { id, params, itself } = await aDelegate(client, agent.id)
    const unused = await aDelegation(client, agent.id, { expiresInMinutes: 30 })
    await made(client.sandbox.advance({ body: { minutes: 59 } }))
    expect(await statusesOf(client, [id, unused.id])).toEqual(['redeemed', 'expired'])
    await made(client.sandbox.advance({ body: { minutes: 1 } }))
    expect((await made(client.delegations.get({ params }))).status).toBe('expired')
    expect((await anyone.delegations.redeem(codeOf(unused))).code).toBe('code_expired')
    const events = await made(client.events.list({ query: { event: 'delegation.expired' } }))
    expect(events.data.map(({ data }) => data.delegationId)).toEqual([id, unused.id])
    await until('it stops', async () => (await itself.agents.list()).status === 401)
    expect((await client.delegations.revoke({ params })).code).toBe('delegation_over')
  })

  test('comes with that of its agent', async () => {
    const { client } = await house.owner()
    const agent = await anAgent(client)
    const { itself, id } = await aDelegate(client, agent.id)
    const unused = await aDelegation(client, agent.id)
    const answer = await client.agents.delete({ params: agent })
    expect(await traceOf(house, answer)).toMatchObject({
      events: expect.arrayContaining(['agent.deleting', 'token.revoked', 'delegation.revoked']),
      entries: 4,
    })
    expect(await statusesOf(client, [id, unused.id])).toEqual(['revoked', 'revoked'])
    await until('it stops', async () => (await itself.agents.list()).status === 401)
  })

  test('and the redeeming of its code do not miss each other', async () => {
    const { client, agent } = await anOwnerWithAgent()
    for (let round = 0; round < 5; round++) {
      const delegation = await aDelegation(client, agent.id)
      const [taken] = await Promise.all([
        anyone.delegations.redeem(codeOf(delegation)),
        client.delegations.revoke({ params: delegation }),
      ])
      expect([201, 410]).toContain(taken.status)
      const open = await house.sql(
        'select id from agent_tokens where delegation_id = $1 and revoked_at is null',
        [delegation.id],
      )
      expect(open).toEqual([])
    }
  })
})

/** As many intents at once, no two alike. */
const declareAll = (by: TestClient, agentId: string, amounts: readonly number[], members = {}) =>
  Promise.all(
    amounts.map((amountEuros, n) =>
      by.intents.create({
        body: { agentId, amountEuros, merchant: `Shop ${n}`, purpose: 'A paper', ...members },
      }),
    ),
  )

const declareOne = async (by: TestClient, agentId: string, amountEuros: number, merchant: string) =>
  made(by.intents.create({ body: { agentId, amountEuros, merchant, purpose: 'A paper' } }))

describe('the cap of a delegation', () => {
  test('lets exactly so many of a hundred at once pass', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { itself, params } = await aDelegate(client, agent.id, { maxAmountEuros: 7, label: 'Sub' })
    const answers = await declareAll(itself, agent.id, Array(100).fill(1))
    const intents = answers.map(({ body }) => body)
    expect(intents.filter(({ status }) => status === 'approved')).toHaveLength(7)
    expect(new Set(intents.map(({ delegationId }) => delegationId))).toEqual(new Set([params.id]))
    for (const { decision } of intents.filter(({ status }) => status === 'denied'))
      expect(decision.reason).toBe(
        'The budget of the delegation Sub of € 7.00 is reached: € 7.00 used, € 0.00 left.',
      )
    const { body } = await client.delegations.get({ params })
    expect(body).toMatchObject({ reservedEuros: 7, spentEuros: 0, remainingEuros: 0 })
  })

  test('holds together with that of its run and of all above it, and the narrowest is named', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegate(client, agent.id, { maxAmountEuros: 10, label: 'Root' })
    const leaf = await aDelegate(client, agent.id, {
      ...{ parentDelegationId: root.id, expiresInMinutes: 50 },
      ...{ maxAmountEuros: 8, label: 'Leaf' },
    })
    const run = await made(
      leaf.itself.runs.create({ body: { agentId: agent.id, name: 'R', budgetEuros: 3 } }),
    )
    const reasonOf = async (by: TestClient, amount: number, runId: string | null, merchant: string) => {
      const body = { agentId: agent.id, amountEuros: amount, merchant, purpose: 'A paper', runId }
      return (await made(by.intents.create({ body }))).decision.reason
    }
    expect(await reasonOf(leaf.itself, 4, run.id, 'A')).toMatch(/^The budget of the run R of € 3.00/)
    expect(await reasonOf(root.itself, 6, null, 'B')).toMatch(/no person is asked/)
    expect(await reasonOf(leaf.itself, 5, null, 'C')).toMatch(/^The budget of the delegation Root of € 10.00/)
    expect(await reasonOf(leaf.itself, 4, null, 'D')).toMatch(/no person is asked/)
    const left = async ({ params }: typeof root) => {
      const { reservedEuros, remainingEuros } = await made(client.delegations.get({ params }))
      return [reservedEuros, remainingEuros]
    }
    expect([await left(root), await left(leaf)]).toEqual([
      [10, 0],
      [4, 0],
    ])
  })

  test('is never exceeded in a family, and refuses nothing that fits: an oracle counts along', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const caps: Record<string, { cap: number; line: string[]; itself: TestClient }> = {}
    const add = async (name: string, cap: number, above?: string) => {
      const parent = above ? caps[above] : undefined
      const parentDelegationId = parent ? (parent.line.at(-1) as string) : null
      const expiresInMinutes = 60 - 5 * (parent?.line.length ?? 0)
      const { id, itself } = await aDelegate(client, agent.id, {
        ...{ parentDelegationId, maxAmountEuros: cap, expiresInMinutes },
      })
      caps[name] = { cap, line: [...(parent?.line ?? []), id], itself }
    }
    await add('root', 40)
    await add('left', 30, 'root')
    await add('right', 25, 'root')
    await add('leaf', 12, 'left')
    const family = Object.values(caps)
    const capOf = new Map(family.map(({ cap, line }) => [line.at(-1) as string, cap]))
    const wishes = Array.from({ length: 96 }, (_, n) => ({
      by: family[n % 4] as (typeof family)[number],
      amount: ((n * 7) % 5) + 0.37,
      merchant: `Shop ${n}`,
    }))
    const answers = await Promise.all(
      wishes.map(({ by, amount, merchant }) => declareOne(by.itself, agent.id, amount, merchant)),
    )
    const used = new Map<string, number>()
    answers.forEach(({ status, amountEuros }, n) => {
      if (status !== 'approved') return
      for (const id of wishes[n]?.by.line ?? [])
        used.set(id, (used.get(id) ?? 0) + Math.round(amountEuros * 100))
    })
    const usedOf = (id: string): number => used.get(id) ?? 0
    for (const [id, cap] of capOf) {
      expect(usedOf(id)).toBeLessThanOrEqual(cap * 100)
      const { reservedEuros } = await made(client.delegations.get({ params: { id } }))
      expect(Math.round(reservedEuros * 100)).toBe(usedOf(id))
    }
    answers.forEach(({ status, amountEuros }, n) => {
      const line = wishes[n]?.by.line ?? []
      const isTooMuch = line.some(id => usedOf(id) + amountEuros * 100 > (capOf.get(id) ?? 0) * 100 + 0.001)
      expect([status, status === 'approved' || isTooMuch]).toEqual([status, true])
    })
    expect(answers.filter(({ status }) => status === 'approved').length).toBeGreaterThan(4)
    const { heldEuros } = await made(client.agents.balance({ params: agent }))
    expect(Math.round(heldEuros * 100)).toBe(usedOf(caps.root?.line[0] as string))
  })

  test('is good for its merchant alone, and says so', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegation(client, agent.id, { merchant: 'Bookshop', label: 'Books' })
    const { itself } = await aDelegate(client, agent.id, {
      ...{ parentDelegationId: root.id, expiresInMinutes: 50 },
    })
    expect((await declareOne(itself, agent.id, 1, 'BOOKSHOP')).status).toBe('approved')
    const denied = await declareOne(itself, agent.id, 1, 'Bakery')
    expect([denied.status, denied.decision.reason]).toEqual([
      'denied',
      'The delegation Books is good for Bookshop only, not for Bakery.',
    ])
  })

  test('reaches no intent but those that are made with it, not even by a key that another request has used', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { itself, id } = await aDelegate(client, agent.id)
    const agentItself = house.client(String((await aToken(client, agent.id)).token))
    const others = await declareOne(agentItself, agent.id, 1, 'Bookshop')
    expect((await itself.intents.get({ params: others })).code).toBe('intent_not_found')
    expect((await itself.intents.cancel({ params: others, body: {} })).code).toBe('intent_not_found')
    const body = { agentId: agent.id, amountEuros: 2, merchant: 'Bakery', purpose: 'Bread' }
    const theirs = await made(agentItself.intents.create({ body, idempotencyKey: 'same' }))
    const own = await made(itself.intents.create({ body, idempotencyKey: 'same' }))
    expect([theirs.delegationId, own.delegationId]).toEqual([null, id])
    expect((await made(itself.intents.list())).data.map(one => one.id)).toEqual([own.id])
    expect((await made(itself.delegations.list())).data.map(one => one.id)).toEqual([id])
  })

  test('works in the runs of its agent, and ends its own', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { itself, id } = await aDelegate(client, agent.id)
    const run = await aRun(client, agent.id)
    const own = await aRun(itself, agent.id)
    expect([run.delegationId, own.delegationId]).toEqual([null, id])
    const body = {
      agentId: agent.id,
      amountEuros: 1,
      merchant: 'Bookshop',
      purpose: 'A paper',
      runId: run.id,
    }
    expect((await made(itself.intents.create({ body }))).runId).toBe(run.id)
    expect((await itself.runs.complete({ params: run, body: {} })).code).toBe('run_not_found')
    expect((await itself.runs.fail({ params: own, body: { reason: 'No' } })).body.status).toBe('failed')
  })

  test('ends with it: nothing that was made under it outlives it', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const { itself, params } = await aDelegate(client, agent.id, { expiresInMinutes: 30 })
    const intent = await declareOne(itself, agent.id, 5, 'Bookshop')
    expect(intent.expiresAt).toBe((await made(client.delegations.get({ params }))).expiresAt)
    await made(client.sandbox.advance({ body: { minutes: 30 } }))
    expect((await made(client.intents.get({ params: intent }))).status).toBe('expired')
    expect((await made(client.delegations.get({ params }))).reservedEuros).toBe(0)
  })
})

describe('a delegation that is revoked', () => {
  test('cancels what is open under it and below, and frees its money', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegate(client, agent.id, { maxAmountEuros: 200 })
    const leaf = await aDelegate(client, agent.id, {
      ...{ parentDelegationId: root.id, expiresInMinutes: 50, maxAmountEuros: 100 },
    })
    const beside = await declareOne(client, agent.id, 3, 'Beside')
    const open = [
      await declareOne(root.itself, agent.id, 5, 'A'),
      await declareOne(leaf.itself, agent.id, 7, 'B'),
      await declareOne(leaf.itself, agent.id, 60, 'C'),
    ]
    expect(open.map(({ status }) => status)).toEqual(['approved', 'approved', 'created'])
    const answer = await client.delegations.revoke(root)
    expect(answer.body).toMatchObject({ reservedEuros: 0, remainingEuros: 0 })
    expect(await traceOf(house, answer)).toMatchObject({
      events: expect.arrayContaining(Array(3).fill('intent.cancelled')),
    })
    for (const { id } of open) expect(await transactionsOf(house, answer, 'intents', id)).toBe(1)
    const late = await client.intents.approve({ params: { id: String(open[2]?.id) }, body: {} })
    expect(late.code).toBe('intent_not_waiting')
    expect((await made(client.intents.get({ params: beside }))).status).toBe('approved')
    expect((await made(client.agents.balance({ params: agent }))).heldEuros).toBe(3)
    expect((await made(client.delegations.get({ params: leaf.params }))).reservedEuros).toBe(0)
    expect((await made(client.ledger.verify())).ok).toBe(true)
  })

  test('in the middle of a burst below it: nothing is approved afterwards', async () => {
    const { client, agent } = await anOwnerWithAgent()
    const root = await aDelegate(client, agent.id, { maxAmountEuros: 2_000 })
    const { itself, params } = await aDelegate(client, agent.id, {
      ...{ parentDelegationId: root.id, expiresInMinutes: 50, maxAmountEuros: 1_000 },
    })
    const told: { began: number; status: string | undefined; code: string | undefined }[] = []
    let over = false
    let count = 0
    const lane = async (): Promise<void> => {
      while (!over) {
        const [began, merchant] = [performance.now(), `Shop ${count++}`]
        const body = { agentId: agent.id, amountEuros: 1, merchant, purpose: 'A paper' }
        const { status, code, ...answer } = await itself.intents.create({ body })
        told.push({ began, status: status === 201 ? answer.body.status : undefined, code })
      }
    }
    const lanes = Promise.all(Array.from({ length: 48 }, lane))
    await until('some are approved', async () => told.length > 200)
    const answer = await client.delegations.revoke(root)
    const revoked = performance.now()
    await until('it is told', async () => told.some(({ began }) => began > revoked))
    over = true
    await lanes
    expect(answer.status).toBe(200)
    expect(told.filter(({ began, status }) => began > revoked && status === 'approved')).toEqual([])
    const refusals = new Set(told.flatMap(({ code }) => code ?? []))
    expect([...refusals].filter(code => !/^(delegation_over|unauthenticated)$/.test(code))).toEqual([])
    expect(refusals.size).toBeGreaterThan(0)
    const left = await house.sql(
      `select id from intents where delegation_id = $1 and status in ('created', 'approved')`,
      [params.id],
    )
    expect(left).toEqual([])
    expect((await made(client.agents.balance({ params: agent }))).heldEuros).toBe(0)
  })
})

test('the budget of a token lets exactly so many of fifty at once pass, and binds approvals too', async () => {
  const { client, agent } = await anOwnerWithAgent()
  const token = await aToken(client, agent.id, { maxAmountEuros: 3, label: 'Small' })
  const itself = house.client(String(token.token))
  const answers = await declareAll(itself, agent.id, Array(50).fill(1))
  expect(answers.filter(({ body }) => body.status === 'approved')).toHaveLength(3)
  const denied = answers.find(({ body }) => body.status === 'denied')
  expect(denied?.body.decision.reason).toContain('The budget of the token Small of € 3.00 is reached')
  expect((await declareOne(client, agent.id, 1, 'By the owner')).status).toBe('approved')
  const other = await aToken(client, agent.id, { maxAmountEuros: 100, label: 'Large' })
  const large = house.client(String(other.token))
  const waiting = [await declareOne(large, agent.id, 60, 'A'), await declareOne(large, agent.id, 60, 'B')]
  const approvals = waiting.map(({ id }) => client.intents.approve({ params: { id }, body: {} }))
  expect((await Promise.all(approvals)).map(({ status, code }) => code ?? status).toSorted()).toEqual([
    200,
    'against_policy',
  ])
})
