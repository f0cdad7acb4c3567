import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { resolveDescriptor } from '../../src/control/merchants/descriptors.ts'
import { categories } from '../../src/control/merchants/mcc.ts'
import {
  foldMerchant,
  matcher,
  mccGroup,
  mccGroupNames,
  patternProblem,
} from '../../src/control/merchants/merchants.ts'
import { descriptors } from '../support/descriptors.ts'
import { aFundedAgent, anAgent, anAgentUnder, anIntent, aPolicy, aToken, made } from '../support/factories.ts'
import { startHouse } from '../support/harness.ts'

const house = await startHouse()

/** Of the scripts of the world: Latin, Greek, Cyrillic, Indic, signs, spaces and what is not seen. */
const anyText = fc
  .array(fc.integer({ min: 1, max: 0x30ff }), { minLength: 1, maxLength: 20 })
  .map(codes => String.fromCodePoint(...codes))

const patterns = ['Amazon', 'PayPal', 'Straße', 'casino.example', '*.evil.example', 'müller.example', 'Νίκη']
const admits = matcher(patterns)
const refuses = matcher(patterns, { lookalikes: true })

describe('a pattern', () => {
  test.each([
    ['amazon', 'Amazon'],
    ['  AMAZON  ', 'Amazon'],
    ['STRASSE', 'Straße'],
    ['ΝΊΚΗ', 'Νίκη'],
    ['casino.example', 'casino.example'],
    ['CASINO.Example.', 'casino.example'],
    ['https://casino.example:8443/a?b#c', 'casino.example'],
    ['//casino.example/', 'casino.example'],
    ['HTTP:casino.example', 'casino.example'],
    ['https:\\\\casino.example/x', 'casino.example'],
    ['https://user@casino.example/', 'casino.example'],
    ['xn--mller-kva.example', 'müller.example'],
    ['MÜLLER.example', 'müller.example'],
    ['a.evil.example', '*.evil.example'],
    ['https://a.b.c.EVIL.example/x', '*.evil.example'],
  ])('admits %j as %j, and refuses it too', (merchant, pattern) => {
    expect(admits(merchant)).toBe(pattern)
    expect(refuses(merchant)).toBe(pattern)
  })

  test.each([
    ['аmazon', 'Amazon'],
    ['ＡＭＡＺＯＮ', 'Amazon'],
    ['Amázon', 'Amazon'],
    ['Ama\u200bzon', 'Amazon'],
    ['Ama\u00adzon', 'Amazon'],
    ['Ama\u2066zon', 'Amazon'],
    ['𝐀𝐦𝐚𝐳𝐨𝐧', 'Amazon'],
    ['AΜAZOΝ', 'Amazon'],
    ['arnazon', 'Amazon'],
    ['Amaz0n', 'Amazon'],
    ['A m a z o n', 'Amazon'],
    ['PAYPAI', 'PayPal'],
    ['Paypa1', 'PayPal'],
    ['Рaypal', 'PayPal'],
    ['саsino.example', 'casino.example'],
    ['https://casin0.example', 'casino.example'],
    ['xn--csino-4ve.example', 'casino.example'],
    ['Casino example', 'casino.example'],
    ['a.еvil.example', '*.evil.example'],
  ])('refuses %j, which only looks like %j, and does not admit it', (merchant, pattern) => {
    expect(admits(merchant)).toBeUndefined()
    expect(refuses(merchant)).toBe(pattern)
  })

  test.each([
    'Amazonas',
    'www.casino.example',
    'evil-casino.example',
    'casino.example.com',
    'evil.example',
    'notevil.example',
    'https://casino.example@good.example/',
    'https://good.example/casino.example',
    'https://good.example\\.evil.example',
    'https:good.example@casino.example.com',
    'ftp:casino.example',
    'ada@casino.example',
    'casino',
    '',
    '!!!',
  ])('has nothing to do with %j', merchant => {
    expect(admits(merchant)).toBeUndefined()
    expect(refuses(merchant)).toBeUndefined()
  })

  test('of several is the first', () => {
    const find = matcher(['*.example.com', 'shop.example.com', '*.shop.example.com', 'SHOP', 'shop'])
    expect(['shop.example.com', 'a.shop.example.com', 'shop'].map(find)).toEqual([
      '*.example.com',
      '*.example.com',
      'SHOP',
    ])
  })

  test('that is none matches none', () => {
    expect(matcher([])('Bookshop')).toBeUndefined()
    expect(matcher(['ex*le', '*'])('example')).toBeUndefined()
  })

  test('refuses all that it admits, whatever the letters', () => {
    const twisted = fc.constantFrom(
      (text: string) => text,
      (text: string) => text.toUpperCase(),
      (text: string) => text.toLowerCase(),
      (text: string) => ` ${text}\t`,
    )
    fc.assert(
      fc.property(anyText, twisted, (text, twist) => {
        const merchant = twist(text)
        if (matcher([text])(merchant) === text)
          expect(matcher([text], { lookalikes: true })(merchant)).toBe(text)
        expect(foldMerchant(foldMerchant(merchant))).toBe(foldMerchant(merchant))
      }),
      { numRuns: 300 },
    )
  })

  test('admits nothing in which one letter has been exchanged, and refuses it', () => {
    const alike: Record<string, string> = {
      a: 'аɑᴀá',
      c: 'сϲ',
      e: 'еè',
      o: '0οоø',
      p: 'рρ',
      x: 'х×',
      y: 'уγ',
      s: 'ѕ',
    }
    const word = fc.array(fc.constantFrom(...Object.keys(alike)), { minLength: 2, maxLength: 9 })
    fc.assert(
      fc.property(word, fc.nat(), fc.nat(), (letters, where, which) => {
        const at = where % letters.length
        const others = [...(alike[letters[at] ?? ''] ?? '')]
        const merchant = letters.with(at, others[which % others.length] ?? '').join('')
        const pattern = letters.join('')
        expect(matcher([pattern])(merchant)).toBeUndefined()
        expect(matcher([pattern], { lookalikes: true })(merchant)).toBe(pattern)
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    ['', /empty/],
    ['  ', /empty/],
    ['*', /everybody/],
    ['*.com', /one owner/],
    ['*.co.uk', /one owner/],
    ['*.two words.com', /one owner/],
    ['exa*le', /in front of a host/],
    ['*.', /in front of a host/],
    ['Book\u200bshop', /not seen/],
    ['Book\u0000shop', /not seen/],
    ['https://example.com/shop', /host alone/],
    ['example.com:8080', /host alone/],
    ['x'.repeat(254), /longer/],
  ])('may not be %j', (pattern, problem) => {
    expect(patternProblem(pattern)).toMatch(problem)
  })

  test.each([
    'Bookshop',
    'example.com',
    '*.example.com',
    '*.shop.co.uk',
    'Ben & Jerry’s',
    'A/S Norsk',
    '7-Eleven',
  ])('may be %j', pattern => expect(patternProblem(pattern)).toBeUndefined())
})

describe('a policy', () => {
  test.each([
    ['merchantAllowlist.1', { merchantAllowlist: ['Bookshop', '*'] }, /everybody/],
    ['merchantBlocklist.0', { merchantBlocklist: ['*.com'] }, /one owner/],
    ['mccCategories.0', { mccCategories: ['sofware'] }, /there are advertising, .*software/],
  ])('is refused with a wrong %s', async (field, wrong, words) => {
    const { client } = await house.owner()
    const answer = await client.policies.create({ body: { name: 'A', ...wrong } })
    expect([answer.status, answer.error]).toEqual([400, expect.stringMatching(words)])
    expect(answer.error).toContain(field)
    const { id } = await aPolicy(client)
    const replaced = await client.policies.replace({ params: { id }, body: { name: 'A', ...wrong } })
    expect([replaced.status, replaced.error]).toEqual([400, answer.error])
  })

  test('that was written before is read, copied and kept as it is', async () => {
    const { client } = await house.owner()
    const { id } = await aPolicy(client)
    const old = { merchant_allowlist: ['*'], mcc_categories: ['sofware'] }
    await house.sql('update policies set merchant_allowlist = $2, mcc_categories = $3 where id = $1', [
      id,
      ...Object.values(old),
    ])
    const agent = await anAgent(client, { policyId: id })
    const copy = await made(client.policies.effective({ params: { agentId: agent.id } }))
    expect(copy).toMatchObject({ merchantAllowlist: ['*'], mccCategories: ['sofware'] })
  })
})

describe('categories', () => {
  test('are named by groups of codes that there are', () => {
    const codes = new Set(categories.map(({ code }) => code))
    expect(codes.size).toBe(categories.length)
    for (const name of mccGroupNames) {
      expect(mccGroup(name)).not.toEqual([])
      expect(mccGroup(name)?.filter(code => !codes.has(code))).toEqual([])
    }
    expect(mccGroup('toString')).toBeUndefined()
    expect(mccGroup('travel')).toEqual(
      expect.arrayContaining(['3058', '4112', '4121', '4511', '7011', '7512']),
    )
    for (const gambling of mccGroup('gambling') ?? [])
      expect(mccGroupNames.filter(name => mccGroup(name)?.includes(gambling))).toEqual(['gambling'])
  })

  test('are listed, by code', async () => {
    const { client } = await house.owner()
    const codes = async (query: Parameters<typeof client.merchants.mcc>[0] & object) =>
      (await made(client.merchants.mcc(query))).data.map(({ code }) => code)
    const first = await made(client.merchants.mcc({ query: { limit: 2 } }))
    expect(first.data).toEqual([
      { code: '0742', description: 'Veterinary surgeons', groups: [] },
      { code: '0743', description: 'Wine growers', groups: [] },
    ])
    expect(await codes({ query: { limit: 1, cursor: String(first.nextCursor) } })).toEqual(['0744'])
    expect(await codes({ query: { group: 'dining' } })).toEqual(['5811', '5812', '5813', '5814'])
    expect(await codes({ query: { q: 'bookSHOP' } })).toEqual(['5942'])
    expect(await codes({ query: { group: 'software', q: '73' } })).toEqual(['7372', '7375', '7379'])
    const wrong = await client.merchants.mcc({ query: { group: 'sofware' } })
    expect([wrong.status, wrong.error]).toEqual([400, expect.stringMatching(/^group: .*software/)])
  })

  test('are looked up by code, and groups are listed', async () => {
    const { client } = await house.owner()
    const found = await made(client.merchants.category({ params: { code: '3058' } }))
    expect(found).toEqual({
      code: '3058',
      description: 'An airline with a code of its own',
      groups: ['travel'],
    })
    expect(await client.merchants.category({ params: { code: '9999' } })).toMatchObject({ status: 404 })
    const { data } = await made(client.merchants.groups({ query: { limit: 100 } }))
    expect(data.map(({ name }) => name)).toEqual(mccGroupNames)
    expect(data.find(({ name }) => name === 'utilities')?.codes).toEqual(['4900'])
  })
})

describe('a descriptor', () => {
  test('is resolved as often rightly as its confidence says', () => {
    const shares = new Map<number, { right: number; all: number }>()
    for (const { text, name, mcc } of descriptors) {
      const found = resolveDescriptor(text)
      const share = shares.get(found.confidence) ?? { right: 0, all: 0 }
      shares.set(found.confidence, share)
      share.all++
      if (found.name === name && (found.mcc ?? mcc) === mcc) share.right++
    }
    expect(descriptors.length).toBeGreaterThan(200)
    expect([...shares.keys()].toSorted()).toEqual([0.3, 0.5, 0.7, 0.95])
    for (const [confidence, { right, all }] of shares) expect(right / all).toBeGreaterThanOrEqual(confidence)
  })

  test.each([
    ['PAYPAL *SPOTIFYAB', 'Spotify', '5815', 'PayPal', 0.95],
    ['SQ *BLUE BOTTLE COFF', 'Blue Bottle Coff', '5814', 'Square', 0.5],
    ['PAYPAL *SQ *NORDSTERN', 'Nordstern', null, 'Square', 0.3],
    ['NORDSTERN GMBH HAMBURG DE', 'Nordstern', null, null, 0.3],
    ['SHELL BEACH RESTAURANT', 'Shell Beach Restaurant', '5812', null, 0.5],
    ['AMAZON FAKE SHOP', 'Amazon', '5942', null, 0.7],
    ['АMAZON', 'Аmazon', null, null, 0.3],
    ['HTTPS://WWW.NORDSTERN.DE/ORDER/1', 'Nordstern', null, null, 0.3],
    ['4711 0815', '4711 0815', null, null, 0],
    ['PAYPAL *', 'Paypal', null, 'PayPal', 0.3],
    ['*** ***', '*** ***', null, null, 0],
  ])('%j is %s', (query, name, mcc, processor, confidence) => {
    expect(resolveDescriptor(query)).toMatchObject({ query, name, mcc, processor, confidence })
  })

  test('of whatever letters has an answer, and always the same', () => {
    fc.assert(
      fc.property(anyText, text => {
        const found = resolveDescriptor(text)
        expect(found.confidence).toBeLessThan(0.9)
        expect(resolveDescriptor(text)).toEqual(found)
      }),
      { numRuns: 200 },
    )
  })

  test('is resolved by request', async () => {
    const { client } = await house.owner()
    const { status, body } = await client.merchants.resolve({ query: { q: ' AMZN Mktp DE*2A3B4 ' } })
    expect([status, body]).toEqual([
      200,
      {
        query: 'AMZN Mktp DE*2A3B4',
        name: 'Amazon',
        mcc: '5942',
        category: 'Bookshops',
        processor: null,
        confidence: 0.95,
      },
    ])
    for (const q of ['', ' ', 'x'.repeat(201)])
      expect(await client.merchants.resolve({ query: { q } })).toMatchObject({
        status: 400,
        error: expect.stringContaining('q'),
      })
  })
})

describe('suggestions for an allowlist', () => {
  const rules = { autoApproveLimitEuros: 10_000, merchantAllowlist: [], merchantBlocklist: [] }

  test('come from what the agent has spent', async () => {
    const { client } = await house.owner()
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
    await made(
      client.policies.replace({
        params: { id: String(agent.policyId) },
        body: { ...rules, name: 'A', merchantAllowlist: ['paper.example'], merchantBlocklist: ['Casino'] },
      }),
    )
    const { data } = await made(client.merchants.suggestions({ query: { agentId: agent.id } }))
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
      { merchant: 'Casin0', suggested: false, reason: 'The blocklist has Casino; it wins.' },
      { merchant: 'Воokshop', suggested: false, reason: 'It looks like BOOKSHOP, and is written otherwise.' },
      { merchant: 'Kiosk', spends: 1, suggested: false, reason: 'Paid once only.' },
    ])
    expect(data[1]?.reason).toBe('Paid 2 times, € 15.50 in all.')
    expect(data[1]?.lastUsedAt).toMatch(/Z$/)
  })

  test('count a payment once, and none that came to nothing', async () => {
    const { client, ownerId } = await house.owner()
    const agent = await aFundedAgent(client)
    const other = await anAgent(client)
    await house.sql(
      `insert into transactions (id, owner_id, mode, created_at, updated_at, agent_id, wallet_id, type, status, currency,
         amount_cents, refunded_cents, merchant, witnesses, decline_reason)
       select 'txn_' || $1 || n, $1, 'test', now(), now(), case n when 4 then $3 else $2 end, $4, 'card', status, 'EUR',
         700, case status when 'refunded' then 700 else 0 end, 'Bakery', '[]', case status when 'declined' then 'no' end
       from unnest(array['completed', 'settled', 'declined', 'completed', 'refunded']) with ordinality as t(status, n)`,
      [ownerId, agent.id, other.id, agent.walletId],
    )
    const ask = (agentId: string) => client.merchants.suggestions({ query: { agentId } })
    expect((await made(ask(agent.id))).data).toMatchObject([
      { merchant: 'Bakery', spends: 2, amountEuros: 14 },
    ])
  })

  test('are for the agent and its owner alone', async () => {
    const { client } = await house.owner()
    const stranger = await house.owner()
    const [agent, other] = [await anAgent(client), await anAgent(client)]
    const own = house.client(String((await aToken(client, agent.id)).token))
    const status = async (by: typeof client, agentId: string) =>
      (await by.merchants.suggestions({ query: { agentId } })).status
    expect(await status(own, agent.id)).toBe(200)
    expect(await status(own, other.id)).toBe(404)
    expect(await status(stranger.client, agent.id)).toBe(404)
    expect(await status(client, 'agent_1')).toBe(404)
  })
})
