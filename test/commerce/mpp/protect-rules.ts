import { describe, expect, test } from '@jest/globals'
import { anAgentClient } from '../../support/cards/reveal.ts'
import { aFundedAgent, bodyOf } from '../../support/factories.ts'
import { traceOf } from '../../support/trace.ts'
import { service } from './service.ts'

describe('protect rules', () => {
  test('are made, listed newest first, and deleted, each with an event', async () => {
    const { client } = await service.owner()
    const agent = await aFundedAgent(client)
    const made = await client.mpp.protect({
      body: { type: 'deny', merchant: 'Shop.Example.com', reason: 'Charges twice.' },
    })
    expect(made).toMatchObject({
      status: 201,
      body: { type: 'deny', merchant: 'Shop.Example.com', agentId: null, reason: 'Charges twice.' },
    })
    expect(await traceOf(service, made)).toMatchObject({ events: ['mpp.protect_rule.created'] })
    const own = await bodyOf(
      client.mpp.protect({ body: { type: 'allow', merchant: '*.example.com', agentId: agent.id } }),
    )
    expect((await bodyOf(client.mpp.rules())).data.map(({ id }) => id)).toEqual([own.id, made.body.id])
    expect((await bodyOf(client.mpp.rules({ query: { type: 'deny' } }))).data).toHaveLength(1)
    const gone = await client.mpp.unprotect({ params: { id: own.id } })
    expect(gone.status).toBe(204)
    expect(await traceOf(service, gone)).toMatchObject({ events: ['mpp.protect_rule.deleted'] })
    expect(await client.mpp.unprotect({ params: { id: own.id } })).toMatchObject({
      status: 404,
      code: 'protect_rule_not_found',
    })
  })

  test('name a host, and each only once for the same agents', async () => {
    const { client } = await service.owner()
    const agent = await aFundedAgent(client)
    const add = (merchant: string, agentId?: string) =>
      client.mpp.protect({ body: { type: 'allow', merchant, ...(agentId ? { agentId } : {}) } })
    expect(await add('Bookshop & Co')).toMatchObject({
      status: 400,
      code: 'merchant_unclear',
      error: expect.stringMatching(/^merchant: Bookshop & Co is not a host/),
    })
    const { id } = await bodyOf(add('shop.example.com'))
    expect(await add('SHOP.example.com.')).toMatchObject({
      code: 'rule_exists',
      error: expect.stringContaining(id),
    })
    expect(await add('shop.example.com', agent.id)).toMatchObject({ status: 201 })
    expect(await add('shop.example.com', 'agent_x')).toMatchObject({ status: 404, code: 'agent_not_found' })
  })

  test('of twenty at once one is made', async () => {
    const { client } = await service.owner()
    const all = await Promise.all(
      Array.from({ length: 20 }, () => client.mpp.protect({ body: { type: 'deny', merchant: 'a.example' } })),
    )
    expect(all.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(400)])
  })

  test('are seen by an agent where they are for it, and never made by one', async () => {
    const { client } = await service.owner()
    const [mine, other] = [await aFundedAgent(client), await aFundedAgent(client)]
    const agentClient = await anAgentClient(service, client, mine.id)
    for (const agentId of [mine.id, other.id, undefined])
      await bodyOf(
        client.mpp.protect({
          body: { type: 'allow', merchant: 'a.example', ...(agentId ? { agentId } : {}) },
        }),
      )
    const seen = (await bodyOf(agentClient.mpp.rules())).data.map(({ agentId }) => agentId)
    expect(seen).toEqual([null, mine.id])
    expect(await agentClient.mpp.protect({ body: { type: 'allow', merchant: 'b.example' } })).toMatchObject({
      status: 403,
    })
  })
})
