import { describe, expect, test } from '@jest/globals'
import {
  hostProtection,
  type ProtectRuleEntry,
  parseProtectPattern,
} from '../../../src/commerce/mpp/protect-rule.ts'

describe('the pattern of a protect rule', () => {
  test.each([
    ['Shop.Example.com', 'shop.example.com'],
    [' shop.example.com. ', 'shop.example.com'],
    ['*.Example.com', '*.example.com'],
    ['https://Shop.Example.com:8443', 'https://shop.example.com:8443'],
    ['https://shop.example.com:443/', 'https://shop.example.com'],
    ['127.0.0.1', '127.0.0.1'],
    ['http://[::ffff:127.0.0.1]:4000', 'http://127.0.0.1:4000'],
    ['müller.de', 'xn--mller-kva.de'],
    ['localhost', 'localhost'],
  ])('%s is %s', (text, pattern) => {
    expect(parseProtectPattern(text)).toEqual({ pattern })
  })

  test.each([
    ['', /not a host/],
    ['*', /not a host/],
    ['*.*.com', /no domain/],
    ['*.com', /no domain/],
    ['*.co.uk', /domain of one owner/],
    ['*.github.io', /many owners/],
    ['shop.example.com:8443', /write the origin/],
    ['shop.example.com/books', /not a host/],
    ['https://shop.example.com/books', /more than an origin/],
    ['https://ada@shop.example.com', /more than an origin/],
    ['two words', /not a host/],
    ['2130706433', /read as the address 127\.0\.0\.1/],
  ])('%j is none', (text, problem) => {
    expect(parseProtectPattern(text)).toEqual({ problem: expect.stringMatching(problem) })
  })
})

let rules = 0
const rule = (
  type: ProtectRuleEntry['type'],
  text: string,
  agentId: string | null = null,
): ProtectRuleEntry => {
  const { pattern } = parseProtectPattern(text) as { pattern: string }
  return { id: `protectrule_${rules++}`, type, pattern, agentId }
}

const read = (url: string, ...all: ProtectRuleEntry[]) => hostProtection(new URL(url), 'agent_1', all)

describe('protect rules', () => {
  const SHOP = 'https://shop.example.com/buy'

  test('allow every host if there are none', () => {
    expect(read(SHOP)).toEqual({ deniedBy: null, isAllowed: false, hasAllowRules: false })
  })

  test('deny before they allow', () => {
    const deny = rule('deny', '*.example.com')
    expect(read(SHOP, rule('allow', 'shop.example.com'), deny)).toMatchObject({ deniedBy: deny.id })
  })

  test('rules of another agent do not apply', () => {
    const others = [
      rule('deny', 'shop.example.com', 'agent_2'),
      rule('allow', 'other.example.com', 'agent_2'),
    ]
    expect(read(SHOP, ...others)).toEqual({ deniedBy: null, isAllowed: false, hasAllowRules: false })
  })

  test.each([
    ['shop.example.com', SHOP, true],
    ['shop.example.com', 'https://SHOP.example.com.:8443/', true],
    ['shop.example.com', 'https://a.shop.example.com/', false],
    ['*.example.com', SHOP, true],
    ['*.example.com', 'https://example.com/', false],
    ['*.example.com', 'https://notexample.com/', false],
    ['https://shop.example.com', SHOP, true],
    ['https://shop.example.com', 'http://shop.example.com/', false],
    ['https://shop.example.com', 'https://shop.example.com:8443/', false],
    ['127.0.0.1', 'http://[::ffff:7f00:1]:4000/', true],
    ['127.0.0.1', 'http://0x7f.1/', true],
  ])('for %s cover %s: %s', (pattern, url, isAllowed) => {
    expect(read(url, rule('allow', pattern))).toEqual({ deniedBy: null, isAllowed, hasAllowRules: true })
  })
})
