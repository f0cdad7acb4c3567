import { describe, expect, test } from '@jest/globals'
import { newId } from '../../src/values/ids.ts'
import { aCard, getCard } from '../support/cards/cards.ts'
import { aFundedAgent, anAgent, aToken, bodyOf } from '../support/factories.ts'
import { calls, eventsOf, service } from './cards/cards-service.ts'
import './cards/card-ends.ts'
import './cards/notices.ts'
import './cards/processor-faults.ts'
import './cards/purses.ts'
import './cards/random-lives.ts'
import './cards/rotation.ts'

const { client, key } = await service.owner()

describe('a new card', () => {
  test('is active once the processor has answered, and shows the last four digits of its number alone', async () => {
    const agent = await aFundedAgent(client)
    const card = await aCard(client, { agentId: agent.id, limits: { maxTransactionEuros: 50 } })
    expect(card).toMatchObject({
      agentId: agent.id,
      status: 'active',
      usage: 'multi',
      displayName: 'Research',
      brand: 'sandbox',
      last4: expect.stringMatching(/^\d{4}$/),
      limits: { maxTransactionEuros: 50, dailyLimitEuros: null, monthlyLimitEuros: null },
      walletId: null,
      balance: null,
      workflowId: `card/${card.id}`,
    })
    expect(calls.map(({ call, reference }) => `${call} ${reference}`)).toEqual([`issue ${card.id}`])
    expect(await getCard(client, card.id)).toEqual(card)
    expect(JSON.stringify(card)).not.toMatch(/\d{12,}/)
    expect(await eventsOf(card.id)).toEqual(['card.created', 'card.issued', 'card.activated'])
  })

  test('stays inactive if requested, and is named after its agent by default', async () => {
    const agent = await anAgent(client, { name: 'Reader' })
    const body = { agentId: agent.id, usage: 'single', activate: false } as const
    const card = await bodyOf(client.cards.create({ body }))
    expect(card).toMatchObject({ status: 'inactive', displayName: 'Reader' })
    const params = { id: card.id }
    expect((await bodyOf(client.cards.activate({ params }))).status).toBe('active')
    expect((await client.cards.activate({ params })).code).toBe('card_not_inactive')
  })

  test('repeating a request with its key returns the same card', async () => {
    const body = { agentId: (await anAgent(client)).id, usage: 'multi' }
    const headers = { 'idempotency-key': newId('try') }
    const [first, second] = [
      await service.http('POST', '/cards', { token: key, headers, body }),
      await service.http('POST', '/cards', { token: key, headers, body }),
    ]
    expect([first.status, second.status]).toEqual([201, 201])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expect(second.body).toEqual(first.body)
    expect(calls).toHaveLength(1)
  })

  test('refuses a card for a frozen or unknown agent without calling the processor', async () => {
    const agent = await anAgent(client)
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} }))
    const create = (agentId: string) => client.cards.create({ body: { agentId, usage: 'multi' } })
    expect((await create(agent.id)).code).toBe('agent_not_active')
    expect((await create(newId('agent'))).code).toBe('agent_not_found')
    expect(calls).toEqual([])
    expect((await bodyOf(client.cards.list({ query: { agentId: agent.id } }))).data).toEqual([])
  })

  const note = 'was 4111 1111 1111 1111'
  test.each([
    ['POST', '', { usage: 'multi', metadata: { note } }],
    ['POST', '', { usage: 'multi', controls: { merchantBlocklist: [note] } }],
    ['PATCH', '/{id}', { displayName: note }],
    ['PATCH', '/{id}', { metadata: { [note]: '' } }],
    ['POST', '/{id}/freeze', { reason: note }],
    ['POST', '/{id}/close', { reason: note }],
    ['POST', '/{id}/rotate', { overlapMinutes: 4111111111111111 }],
    ['POST', '/{id}/fund', { amountEuros: 1, fromWalletId: note }],
    ['PUT', '/{id}/limits', { dailyLimitEuros: 4111111111111111 }],
    ['PUT', '/{id}/controls', { merchantAllowlist: [note] }],
  ])(
    '%s /cards%s refuses a body with a card number and does not repeat it: %#',
    async (method, path, members) => {
      const { id, agentId } = await aCard(client)
      const body = path === '' ? { ...members, agentId } : members
      const answer = await service.http(method, `/cards${path.replace('{id}', id)}`, { token: key, body })
      expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'invalid_request'])
      expect(answer.text).toContain('number of a card')
      expect(answer.text).not.toContain('4111')
      expect((await getCard(client, id)).status).toBe('active')
    },
  )
})

describe('a card', () => {
  test('is frozen, unfrozen and closed, each time with its reason and its event', async () => {
    const { id } = await aCard(client)
    const params = { id }
    const frozen = await bodyOf(client.cards.freeze({ params, body: { reason: 'Unusual' } }))
    expect(frozen).toMatchObject({ status: 'frozen', frozenReason: 'Unusual' })
    expect((await client.cards.freeze({ params, body: {} })).error).toBe('The card is already frozen.')
    const unfrozen = await bodyOf(client.cards.unfreeze({ params }))
    expect(unfrozen).toMatchObject({ status: 'active', frozenReason: null })
    const closed = await bodyOf(client.cards.close({ params, body: { reason: 'Done' } }))
    expect(closed).toMatchObject({ status: 'closed', closedReason: 'Done', closedAt: expect.any(String) })
    for (const verb of ['freeze', 'close', 'rotate'] as const)
      expect((await client.cards[verb]({ params, body: {} })).code).toBe('card_closed')
    expect((await client.cards.unfreeze({ params })).code).toBe('card_closed')
    expect((await client.cards.activate({ params })).code).toBe('card_closed')
    expect((await client.cards.fund({ params, body: { amountEuros: 1 } })).code).toBe('card_closed')
    const ends = ['card.frozen', 'card.unfrozen', 'card.closed']
    expect((await eventsOf(id)).slice(-3)).toEqual(ends)
    const terms = await service.sql('select status from card_terms where id = $1', [id])
    expect(terms).toEqual([{ status: 'closed' }])
  })

  test.each(['freeze', 'close'] as const)('is set to %s by one of many concurrent requests', async verb => {
    const { id } = await aCard(client)
    const requests = Array.from({ length: 8 }, () => client.cards[verb]({ params: { id }, body: {} }))
    const statuses = (await Promise.all(requests)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, ...Array(7).fill(400)])
    const event = verb === 'freeze' ? 'card.frozen' : 'card.closed'
    expect((await eventsOf(id)).filter(name => name === event)).toHaveLength(1)
  })

  test('has its limits replaced, and its controls, which are bounded as those of a policy', async () => {
    const { id } = await aCard(client)
    const params = { id }
    const limits = { maxTransactionEuros: 20, dailyLimitEuros: 60, monthlyLimitEuros: null }
    expect((await bodyOf(client.cards.setLimits({ params, body: limits }))).limits).toEqual(limits)
    const without = { maxTransactionEuros: 10, dailyLimitEuros: null, monthlyLimitEuros: null }
    expect(
      (await bodyOf(client.cards.setLimits({ params, body: { maxTransactionEuros: 10 } }))).limits,
    ).toEqual(without)
    const controls = {
      merchantAllowlist: ['Bookshop'],
      allowedCountries: ['DE'],
      mccCategories: ['software'],
    }
    const changed = await bodyOf(client.cardControls.set({ params, body: controls }))
    expect(changed).toMatchObject({ ...controls, merchantBlocklist: [], allowedMccs: [], blockedMccs: [] })
    expect(await bodyOf(client.cardControls.get({ params }))).toEqual(changed)
    expect((await getCard(client, id)).controls).toEqual(changed)
    expect((await eventsOf(id)).slice(-3)).toEqual([
      'card.limits_changed',
      'card.limits_changed',
      'card.controls_changed',
    ])
  })

  test.each([
    [{ mccCategories: ['no such group'] }, 'mccCategories'],
    [{ allowedCountries: ['Germany'] }, 'allowedCountries'],
    [{ blockedMccs: ['12'] }, 'blockedMccs'],
    [{ merchantAllowlist: Array(1_001).fill('a') }, 'merchantAllowlist'],
  ])('refuses controls that are wrong and names the member: %#', async (body, member) => {
    const { id } = await aCard(client)
    const answer = await service.http('PUT', `/cards/${id}/controls`, { token: key, body })
    expect(answer.status).toBe(400)
    expect(answer.body.error).toContain(member)
    expect((await getCard(client, id)).controls.merchantAllowlist).toEqual([])
  })

  test('renaming a card emits an event', async () => {
    const { id } = await aCard(client)
    const body = { displayName: 'Papers', metadata: { team: 'research' } }
    expect(await bodyOf(client.cards.update({ params: { id }, body }))).toMatchObject(body)
    expect((await eventsOf(id)).at(-1)).toBe('card.details_changed')
  })

  test('is read by its own agent, and by no other agent or owner', async () => {
    const [agent, other] = [await anAgent(client), await anAgent(client)]
    const { id } = await aCard(client, { agentId: agent.id })
    const clientOf = async (agentId: string) => service.client(String((await aToken(client, agentId)).token))
    const own = await clientOf(agent.id)
    expect((await getCard(own, id)).id).toBe(id)
    expect((await bodyOf(own.cards.list())).data.map(card => card.id)).toEqual([id])
    expect((await own.cards.freeze({ params: { id }, body: {} })).status).toBe(403)
    const foreigner = (await service.owner()).client
    for (const stranger of [await clientOf(other.id), foreigner]) {
      expect((await stranger.cards.get({ params: { id } })).status).toBe(404)
      expect((await bodyOf(stranger.cards.list())).data).toEqual([])
    }
    expect((await foreigner.cards.close({ params: { id }, body: {} })).status).toBe(404)
  })

  test('is listed by agent, status and time', async () => {
    const agent = await anAgent(client)
    const [first, second] = [
      await aCard(client, { agentId: agent.id }),
      await aCard(client, { agentId: agent.id }),
    ]
    await bodyOf(client.cards.close({ params: { id: first.id }, body: {} }))
    const idsBy = async (query: object) =>
      (await bodyOf(client.cards.list({ query: { agentId: agent.id, ...query } }))).data.map(({ id }) => id)
    expect(await idsBy({})).toEqual([second.id, first.id])
    expect(await idsBy({ status: 'closed' })).toEqual([first.id])
    expect(await idsBy({ from: '2999-01-01T00:00:00.000Z' })).toEqual([])
    expect(await idsBy({ to: '2999-01-01T00:00:00.000Z' })).toHaveLength(2)
  })

  test('is on a page that is short enough, however long the controls are', async () => {
    const agent = await anAgent(client)
    const merchants = Array.from({ length: 1_000 }, (_, n) => `${n} ${'shop'.repeat(45)}`)
    const controls = { merchantAllowlist: merchants }
    const made: string[] = []
    for (let n = 0; n < 4; n++) made.push((await aCard(client, { agentId: agent.id, controls })).id)
    const listed: string[] = []
    let cursor: string | undefined
    do {
      const query = { agentId: agent.id, limit: 100, ...(cursor ? { cursor } : {}) }
      const page = await bodyOf(client.cards.list({ query }))
      expect(JSON.stringify(page).length).toBeLessThan(600_000)
      listed.push(...page.data.map(({ id }) => id))
      cursor = page.nextCursor ?? undefined
    } while (cursor)
    expect(listed).toEqual(made.toReversed())
  })
})
