import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { resolveDescriptor } from '../../../src/control/merchants/descriptors.ts'
import { normalizeMerchant, patternProblem, payeeMatcher } from '../../../src/control/merchants/matcher.ts'
import { descriptors } from '../../support/control/descriptors.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService({ own: true })

/** Texts in many scripts: Latin, Greek, Cyrillic, Indic, with signs, spaces and invisible characters. */
const anyText = fc
  .array(fc.integer({ min: 1, max: 0x30ff }), { minLength: 1, maxLength: 20 })
  .map(codes => String.fromCodePoint(...codes))

const patterns = ['Amazon', 'PayPal', 'Straße', 'casino.example', '*.evil.example', 'müller.example', 'Νίκη']
const findAllowed = payeeMatcher(patterns)
const findBlocked = payeeMatcher(patterns, { lookalikes: true })

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
  ])('matches %j on an allowlist and on a blocklist, as %j', (merchant, pattern) => {
    expect(findAllowed(merchant)).toBe(pattern)
    expect(findBlocked(merchant)).toBe(pattern)
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
  ])('matches %j on a blocklist alone: it only looks like %j', (merchant, pattern) => {
    expect(findAllowed(merchant)).toBeUndefined()
    expect(findBlocked(merchant)).toBe(pattern)
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
  ])('does not match %j', merchant => {
    expect(findAllowed(merchant)).toBeUndefined()
    expect(findBlocked(merchant)).toBeUndefined()
  })

  test('the first matching pattern wins', () => {
    const findPattern = payeeMatcher([
      '*.example.com',
      'shop.example.com',
      '*.shop.example.com',
      'SHOP',
      'shop',
    ])
    expect(['shop.example.com', 'a.shop.example.com', 'shop'].map(merchant => findPattern(merchant))).toEqual(
      ['*.example.com', '*.example.com', 'SHOP'],
    )
  })

  test('that is missing or malformed matches nothing', () => {
    expect(payeeMatcher([])('Bookshop')).toBeUndefined()
    expect(payeeMatcher(['ex*le', '*'])('example')).toBeUndefined()
  })

  test('a pattern matches on a blocklist everything that it matches on an allowlist', () => {
    const anySpelling = fc.constantFrom(
      (text: string) => text,
      (text: string) => text.toUpperCase(),
      (text: string) => text.toLowerCase(),
      (text: string) => ` ${text}\t`,
    )
    fc.assert(
      fc.property(anyText, anySpelling, (text, spell) => {
        const merchant = spell(text)
        if (payeeMatcher([text])(merchant) === text)
          expect(payeeMatcher([text], { lookalikes: true })(merchant)).toBe(text)
        expect(normalizeMerchant(normalizeMerchant(merchant))).toBe(normalizeMerchant(merchant))
      }),
      { numRuns: 300 },
    )
  })

  test('a pattern matches a name with one lookalike letter only on a blocklist', () => {
    const lookalikes: Record<string, string> = {
      a: 'аɑᴀá',
      c: 'сϲ',
      e: 'еè',
      o: '0οоø',
      p: 'рρ',
      x: 'х×',
      y: 'уγ',
      s: 'ѕ',
    }
    const word = fc.array(fc.constantFrom(...Object.keys(lookalikes)), { minLength: 2, maxLength: 9 })
    fc.assert(
      fc.property(word, fc.nat(), fc.nat(), (letters, where, which) => {
        const at = where % letters.length
        const others = [...(lookalikes[letters[at] ?? ''] ?? '')]
        const merchant = letters.with(at, others[which % others.length] ?? '').join('')
        const pattern = letters.join('')
        expect(payeeMatcher([pattern])(merchant)).toBeUndefined()
        expect(payeeMatcher([pattern], { lookalikes: true })(merchant)).toBe(pattern)
      }),
      { numRuns: 200 },
    )
  })

  test.each([
    ['', /empty/],
    ['  ', /empty/],
    ['*', /every merchant/],
    ['*.com', /one owner/],
    ['*.co.uk', /one owner/],
    ['*.two words.com', /one owner/],
    ['exa*le', /in front of a host/],
    ['*.', /in front of a host/],
    ['Book\u200bshop', /invisible/],
    ['Book\u0000shop', /invisible/],
    ['https://example.com/shop', /host alone/],
    ['example.com:8080', /host alone/],
    ['Bookshop*Casino', /in front of a host/],
    ['PAYPAL *', /in front of a host/],
    ['DE89370400440532013001', /looks like an IBAN.*check digits/],
  ])('is refused as %j', (pattern, problem) => {
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
    'SQ *BOOKSHOP',
    'BOOKSHOP*1234',
    'DE89 3704 0044 0532 0130 00',
  ])('is accepted as %j', pattern => expect(patternProblem(pattern)).toBeUndefined())
})

describe('a descriptor', () => {
  test('is resolved correctly as often as its confidence says', () => {
    const counts = new Map<number, { correct: number; total: number }>()
    for (const { text, name, mcc } of descriptors) {
      const resolved = resolveDescriptor(text)
      const count = counts.get(resolved.confidence) ?? { correct: 0, total: 0 }
      counts.set(resolved.confidence, count)
      count.total++
      if (resolved.name === name && (resolved.mcc ?? mcc) === mcc) count.correct++
    }
    expect(descriptors.length).toBeGreaterThan(200)
    expect([...counts.keys()].toSorted()).toEqual([0.3, 0.5, 0.7, 0.95])
    for (const [confidence, { correct, total }] of counts)
      expect(correct / total).toBeGreaterThanOrEqual(confidence)
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
  ])('%j is resolved to %s', (query, name, mcc, processor, confidence) => {
    expect(resolveDescriptor(query)).toMatchObject({ query, name, mcc, processor, confidence })
  })

  test('any descriptor has an answer, and always the same one', () => {
    fc.assert(
      fc.property(anyText, text => {
        const resolved = resolveDescriptor(text)
        expect(resolved.confidence).toBeLessThan(0.9)
        expect(resolveDescriptor(text)).toEqual(resolved)
      }),
      { numRuns: 200 },
    )
  })

  test('is resolved by the API', async () => {
    const { client } = await service.owner()
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
