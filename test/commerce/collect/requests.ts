import { describe, expect, test } from '@jest/globals'
import { eventsAbout, getRequest, aRequest as make } from '../../support/commerce/requests.ts'
import { aFundedAgent, anAgent, aToken, aWallet, bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })
const owner = await service.owner()
const { client } = owner
const wallet = await aWallet(client)
const agent = await aFundedAgent(client, {}, 50)
const scopes = ['collect:read', 'collect:write'] as const
const agentClient = service.client(String((await aToken(client, agent.id, { scopes: [...scopes] })).token))

const asking = { walletId: wallet.id, amountEuros: 25, description: 'Report 17', expiresInHours: 24 }

describe('a payment request', () => {
  test('has a reference of its own, addresses for people and programs, and waits for its money', async () => {
    const unlocks = { url: 'https://example.com/17', parts: [1, { two: null }] }
    const made = await make(client, wallet.id, { payerName: 'Ada', payerEmail: 'ada@example.com', unlocks })
    expect(made).toEqual({
      id: expect.stringMatching(/^request_/),
      ownerId: owner.ownerId,
      mode: 'test',
      agentId: null,
      delegationId: null,
      walletId: wallet.id,
      amountEuros: 25,
      description: 'Report 17',
      payerName: 'Ada',
      payerEmail: 'ada@example.com',
      metadata: {},
      unlocks,
      reference: expect.stringMatching(/^RF\d{12}$/),
      payUrl: `${service.url}/pay/${made.id}`,
      mppUrl: `${service.url}/collect/402/${made.id}`,
      status: 'open',
      paidEuros: 0,
      surplusEuros: 0,
      refundedEuros: 0,
      refundingEuros: 0,
      paidBy: null,
      paidAt: null,
      expiresAt: new Date(Date.parse(made.createdAt) + 24 * 3_600_000).toISOString(),
      comment: null,
      workflowId: `collect/${made.id}`,
      createdAt: expect.any(String),
      updatedAt: made.createdAt,
    })
    const { reference } = await make(client, wallet.id)
    expect(reference).not.toBe(made.reference)
    expect(await getRequest(client, made.id)).toEqual(made)
    expect(await eventsAbout(client, made.id)).toEqual([
      { event: 'created', requestId: made.id, status: 'open', amountEuros: 25 },
    ])
  })

  test.each([
    ['amountEuros', { amountEuros: 0 }],
    ['amountEuros', { amountEuros: 1.005 }],
    ['amountEuros', { amountEuros: -1 }],
    ['amountEuros', { amountEuros: 1_000_000_000 }],
    ['description', { description: ' ' }],
    ['description', { description: 'x'.repeat(201) }],
    ['expiresInHours', { expiresInHours: 0 }],
    ['expiresInHours', { expiresInHours: 721 }],
    ['expiresInHours', { expiresInHours: 1.5 }],
    ['expiresInHours', { expiresInHours: undefined }],
    ['payerEmail', { payerEmail: 'ada' }],
    ['unlocks', { unlocks: [1] }],
    ['unlocks', { unlocks: 'a text' }],
    ['unlocks', { unlocks: { text: 'x'.repeat(16 * 1_024) } }],
    ['unlocks.orders.1.id', { unlocks: { orders: [{ id: 1e20 }, { id: 2 ** 63 }] } }],
    ['payer', { payer: 'Ada' }],
    ['card', { metadata: { note: '4242 4242 4242 4242' } }],
  ])('is refused with a wrong %s', async (named, members) => {
    const answer = await service.http('POST', '/collect/requests', {
      token: owner.key,
      body: { ...asking, ...members },
    })
    expect([answer.status, answer.headers.get('x-error-code')]).toEqual([400, 'invalid_request'])
    expect(answer.body.error).toContain(named)
  })

  test('accepts unlocks of exactly 16 KiB, counted in UTF-8', async () => {
    const text = 'é'.repeat((16 * 1_024 - '{"text":""}'.length - 1) / 2)
    const { unlocks } = await make(client, wallet.id, { unlocks: { text: `${text}x` } })
    expect(unlocks).toEqual({ text: `${text}x` })
    const tooLarge = await client.collect.create({ body: { ...asking, unlocks: { text: `${text}xx` } } })
    expect(tooLarge).toMatchObject({ status: 400, code: 'invalid_request' })
  })

  test('is for an open wallet of the owner, and for no card’s purse', async () => {
    const stranger = await service.owner()
    const create = (walletId: string) => client.collect.create({ body: { ...asking, walletId } })
    expect(await create((await aWallet(stranger.client)).id)).toMatchObject({
      status: 404,
      code: 'wallet_not_found',
    })
    const closed = await aWallet(client)
    await bodyOf(client.wallets.close({ params: { id: closed.id } }))
    expect(await create(closed.id)).toMatchObject({ status: 400, code: 'wallet_closed' })
    const card = await bodyOf(client.cards.create({ body: { agentId: agent.id, usage: 'multi' } }))
    await bodyOf(client.cards.fund({ params: { id: card.id }, body: { amountEuros: 5 } }))
    const [purse] = (await bodyOf(client.wallets.list({ query: { kind: 'card' } }))).data
    expect(await create(String(purse?.id))).toMatchObject({ status: 400, code: 'wallet_of_card' })
  })

  test('is served under both names, bare and under /v1', async () => {
    const { id } = await make(client, wallet.id)
    for (const path of ['/collect', '/claim', '/v1/collect', '/v1/claim']) {
      const { body } = await service.http('GET', `${path}/requests/${id}`, { token: owner.key })
      expect(body.id).toBe(id)
    }
  })

  test('is made once under one key', async () => {
    const options = { token: owner.key, body: asking, headers: { 'idempotency-key': 'one-request' } }
    const [first, again] = [
      await service.http('POST', '/collect/requests', options),
      await service.http('POST', '/claim/requests', options),
    ]
    expect(again.body).toEqual(first.body)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
  })

  test('is listed by status, wallet, agent, reference and way, newest first', async () => {
    const { client } = await service.owner()
    const [one, two] = [await aWallet(client), await aWallet(client)]
    const first = await make(client, one.id)
    const second = await make(client, two.id)
    await bodyOf(client.collect.cancel({ params: { id: first.id }, body: {} }))
    const listed = async (query: NonNullable<Parameters<typeof client.collect.list>[0]>['query'] & object) =>
      (await bodyOf(client.collect.list({ query }))).data.map(({ id }) => id)
    expect(await listed({})).toEqual([second.id, first.id])
    expect(await listed({ status: 'cancelled' })).toEqual([first.id])
    expect(await listed({ walletId: two.id })).toEqual([second.id])
    expect(await listed({ reference: first.reference })).toEqual([first.id])
    expect(await listed({ paidBy: 'sepa' })).toEqual([])
    expect(await listed({ agentId: agent.id })).toEqual([])
    expect(await listed({ from: second.createdAt })).toEqual([second.id])
  })
})

describe('an agent', () => {
  test('an agent with the scope makes and sees requests only for its own wallet', async () => {
    const own = await make(agentClient, agent.walletId)
    expect(own.agentId).toBe(agent.id)
    const others = await make(client, wallet.id)
    const other = await make(client, (await anAgent(client)).walletId)
    const elsewhere = await agentClient.collect.create({ body: asking })
    expect(elsewhere).toMatchObject({ status: 404, code: 'wallet_not_found' })
    for (const { id } of [others, other]) {
      const params = { id }
      const answers = await Promise.all([
        agentClient.collect.get({ params }),
        agentClient.collect.payments({ params }),
        agentClient.collect.cancel({ params, body: {} }),
      ])
      expect(answers.map(({ status, code }) => [status, code])).toEqual(
        Array(3).fill([404, 'request_not_found']),
      )
    }
    const { data } = await bodyOf(agentClient.collect.list({}))
    expect(data.map(({ id }) => id)).toEqual([own.id])
    expect(await bodyOf(agentClient.collect.cancel({ params: { id: own.id }, body: {} }))).toMatchObject({
      status: 'cancelled',
    })
  })

  test('an agent without the scope cannot make requests', async () => {
    const { token } = await aToken(client, agent.id)
    const body = { ...asking, walletId: agent.walletId }
    const answer = await service.client(String(token)).collect.create({ body })
    expect(answer).toMatchObject({ status: 403, code: 'missing_scope' })
  })
})

test('another owner’s requests are not there', async () => {
  const { id } = await make(client, wallet.id)
  const stranger = (await service.owner()).client
  const params = { id }
  const answers = await Promise.all([
    stranger.collect.get({ params }),
    stranger.collect.payments({ params }),
    stranger.collect.cancel({ params, body: {} }),
  ])
  expect(answers.map(({ status, code }) => [status, code])).toEqual(Array(3).fill([404, 'request_not_found']))
  expect((await getRequest(client, id)).status).toBe('open')
})
