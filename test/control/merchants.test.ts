import './merchants/card-acceptors.ts'
import './merchants/merchant-patterns.ts'
import './merchants/merchants-on-statements.ts'
import { describe, expect, test } from '@jest/globals'
import { mccGroupNames, mccsOfGroup, merchantCategories } from '../../src/control/merchants/mcc.ts'
import {
  aFundedAgent,
  anAgent,
  anAgentUnder,
  anIntent,
  aPolicy,
  aToken,
  bodyOf,
} from '../support/factories.ts'
import { startTestService } from '../support/harness.ts'

const service = await startTestService({ own: true })

describe('a policy', () => {
  test.each([
    ['merchantAllowlist.1', { merchantAllowlist: ['Bookshop', '*'] }, /every merchant/],
    ['merchantBlocklist.0', { merchantBlocklist: ['*.com'] }, /one owner/],
    ['mccCategories.0', { mccCategories: ['sofware'] }, /there are advertising, .*software/],
  ])('is refused with a wrong %s', async (field, wrong, words) => {
    const { client } = await service.owner()
    const answer = await client.policies.create({ body: { name: 'A', ...wrong } })
    expect([answer.status, answer.error]).toEqual([400, expect.stringMatching(words)])
    expect(answer.error).toContain(field)
    const { id } = await aPolicy(client)
    const replaced = await client.policies.replace({ params: { id }, body: { name: 'A', ...wrong } })
    expect([replaced.status, replaced.error]).toEqual([400, answer.error])
  })

  test('that was stored before this check is read and copied as it is', async () => {
    const { client } = await service.owner()
    const { id } = await aPolicy(client)
    const oldLists = { merchant_allowlist: ['*'], mcc_categories: ['sofware'] }
    await service.sql('update policies set merchant_allowlist = $2, mcc_categories = $3 where id = $1', [
      id,
      ...Object.values(oldLists),
    ])
    const agent = await anAgent(client, { policyId: id })
    const copy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    expect(copy).toMatchObject({ merchantAllowlist: ['*'], mccCategories: ['sofware'] })
  })
})

describe('merchant categories', () => {
  test('are grouped by codes that exist', () => {
    const codes = new Set(merchantCategories.map(({ code }) => code))
    expect(codes.size).toBe(merchantCategories.length)
    for (const name of mccGroupNames) {
      expect(mccsOfGroup(name)).not.toEqual([])
      expect(mccsOfGroup(name)?.filter(code => !codes.has(code))).toEqual([])
    }
    expect(mccsOfGroup('toString')).toBeUndefined()
    expect(mccsOfGroup('travel')).toEqual(
      expect.arrayContaining(['3058', '4112', '4121', '4511', '7011', '7512']),
    )
    for (const code of mccsOfGroup('gambling') ?? [])
      expect(mccGroupNames.filter(name => mccsOfGroup(name)?.includes(code))).toEqual(['gambling'])
  })

  test('are listed by code, and filtered by group and text', async () => {
    const { client } = await service.owner()
    const codes = async (query: Parameters<typeof client.merchants.mcc>[0] & object) =>
      (await bodyOf(client.merchants.mcc(query))).data.map(({ code }) => code)
    const firstPage = await bodyOf(client.merchants.mcc({ query: { limit: 2 } }))
    expect(firstPage.data).toEqual([
      { code: '0742', description: 'Veterinary surgeons', groups: [] },
      { code: '0743', description: 'Wine growers', groups: [] },
    ])
    expect(await codes({ query: { limit: 1, cursor: String(firstPage.nextCursor) } })).toEqual(['0744'])
    expect(await codes({ query: { group: 'dining' } })).toEqual(['5811', '5812', '5813', '5814'])
    expect(await codes({ query: { q: 'bookSHOP' } })).toEqual(['5942'])
    expect(await codes({ query: { group: 'software', q: '73' } })).toEqual(['7372', '7375', '7379'])
    const wrong = await client.merchants.mcc({ query: { group: 'sofware' as never } })
    expect([wrong.status, wrong.error]).toEqual([
      400,
      expect.stringMatching(/^group: must be one of .*dining/),
    ])
  })

  test('are read by code, and by group', async () => {
    const { client } = await service.owner()
    const airline = await bodyOf(client.merchants.category({ params: { code: '3058' } }))
    expect(airline).toEqual({
      code: '3058',
      description: 'An airline with a code of its own',
      groups: ['travel'],
    })
    expect(await client.merchants.category({ params: { code: '9999' } })).toMatchObject({ status: 404 })
    for (const group of mccGroupNames) {
      const { data } = await bodyOf(client.merchants.mcc({ query: { group, limit: 1 } }))
      expect(data[0]?.groups).toContain(group)
    }
    const { data } = await bodyOf(client.merchants.mcc({ query: { group: 'utilities' } }))
    expect(data.map(({ code }) => code)).toEqual(['4900'])
  })
})

describe('suggestions for an allowlist', () => {
  const rules = { autoApproveLimitEuros: 10_000, merchantAllowlist: [], merchantBlocklist: [] }

  test('come from the payments of the agent', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, rules)
    const spends: [string, number][] = [
      ['Bookshop', 10],
      ['BOOKSHOP', 5.5],
      ['https://paper.example/1', 3],
      ['paper.example', 4.5],
      ['paper.example', 3.5],
      ['Kiosk', 1],
      ['Воokshop', 2],
      ['Воokshop', 1.5],
      ['Casin0', 3],
      ['Casin0', 2.5],
      ['Library', 20_000],
    ]
    for (const [merchant, amountEuros] of spends) await anIntent(client, agent.id, { merchant, amountEuros })
    await bodyOf(
      client.policies.replace({
        params: { id: String(agent.policyId) },
        body: { ...rules, name: 'A', merchantAllowlist: ['paper.example'], merchantBlocklist: ['Casino'] },
      }),
    )
    const suggestions = () => bodyOf(client.merchants.suggestions({ query: { agentId: agent.id } }))
    expect((await suggestions()).data).toEqual([])
    await service.sql(
      `insert into transactions (id, owner_id, mode, created_at, updated_at, agent_id, wallet_id, type, status, currency,
         amount_cents, refunded_cents, merchant, witnesses)
       select replace(id, 'intent_', 'txn_'), owner_id, mode, created_at, updated_at, agent_id, $2, 'card', 'completed',
         'EUR', amount_cents, 0, merchant, '[]'
       from intents where agent_id = $1 and status = 'approved'`,
      [agent.id, agent.walletId],
    )
    const { data } = await suggestions()
    expect(data).toMatchObject([
      {
        merchant: 'paper.example',
        pattern: 'paper.example',
        spends: 3,
        amountEuros: 11,
        allowed: true,
        suggested: false,
      },
      {
        merchant: 'BOOKSHOP',
        pattern: 'bookshop',
        spends: 2,
        amountEuros: 15.5,
        allowed: false,
        suggested: true,
      },
      {
        merchant: 'Casin0',
        suggested: false,
        reason: 'The blocklist contains Casino, and takes precedence.',
      },
      {
        merchant: 'Воokshop',
        suggested: false,
        reason: 'The name looks like BOOKSHOP, but is spelled differently.',
      },
      { merchant: 'Kiosk', spends: 1, suggested: false, reason: 'Paid only once.' },
    ])
    expect(data[1]?.reason).toBe('Paid 2 times, € 15.50 in all.')
    expect(data[1]?.lastUsedAt).toMatch(/Z$/)
  })

  test('count a payment once, and no declined or refunded one', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await aFundedAgent(client)
    const other = await anAgent(client)
    await service.sql(
      `insert into transactions (id, owner_id, mode, created_at, updated_at, agent_id, wallet_id, type, status, currency,
         amount_cents, refunded_cents, merchant, witnesses, decline_reason)
       select 'txn_' || $1 || n, $1, 'test', now(), now(), case n when 4 then $3 else $2 end, $4, 'card', status, 'EUR',
         700, case status when 'refunded' then 700 else 0 end, 'Bakery', '[]', case status when 'declined' then 'no' end
       from unnest(array['completed', 'settled', 'declined', 'completed', 'refunded']) with ordinality as t(status, n)`,
      [ownerId, agent.id, other.id, agent.walletId],
    )
    const suggestionsFor = (agentId: string) => client.merchants.suggestions({ query: { agentId } })
    expect((await bodyOf(suggestionsFor(agent.id))).data).toMatchObject([
      { merchant: 'Bakery', spends: 2, amountEuros: 14 },
    ])
  })

  test('go on behind the last one of a page, even if its payment is refunded meanwhile', async () => {
    const { client, ownerId } = await service.owner()
    const agent = await aFundedAgent(client)
    const long = 'Ж'.repeat(200)
    await service.sql(
      `insert into transactions (id, owner_id, mode, created_at, updated_at, agent_id, wallet_id, type, status, currency,
         amount_cents, refunded_cents, merchant, witnesses)
       select 'txn_' || substr(md5($1 || n), 1, 26), $1, 'test', now(), now(), $2, $3, 'card', 'completed', 'EUR', 900 - n, 0,
         merchant, '[]' from unnest($4::text[]) with ordinality as t(merchant, n)`,
      [ownerId, agent.id, agent.walletId, ['Bakery', long, 'Kiosk', 'Museum']],
    )
    const pageAfter = (cursor: string | null) =>
      bodyOf(
        client.merchants.suggestions({
          query: { agentId: agent.id, limit: 2, ...(cursor === null ? {} : { cursor }) },
        }),
      )
    const first = await pageAfter(null)
    expect(first.data.map(({ merchant }) => merchant)).toEqual(['Bakery', long])
    await service.sql(
      `update transactions set status = 'refunded', refunded_cents = amount_cents where owner_id = $1 and merchant = $2`,
      [ownerId, long],
    )
    const second = await pageAfter(first.nextCursor)
    expect(second.data.map(({ merchant }) => merchant)).toEqual(['Kiosk', 'Museum'])
  })

  test('suggestions are visible only to the agent and its owner', async () => {
    const { client } = await service.owner()
    const stranger = await service.owner()
    const [agent, other] = [await anAgent(client), await anAgent(client)]
    const tokenClient = service.client(String((await aToken(client, agent.id)).token))
    const status = async (by: typeof client, agentId: string) =>
      (await by.merchants.suggestions({ query: { agentId } })).status
    expect(await status(tokenClient, agent.id)).toBe(200)
    expect(await status(tokenClient, other.id)).toBe(404)
    expect(await status(stranger.client, agent.id)).toBe(404)
    expect(await status(client, 'agent_1')).toBe(404)
  })
})
