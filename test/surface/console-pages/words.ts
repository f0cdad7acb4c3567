import { expect, test } from '@jest/globals'
import { areas } from '../../../src/areas.ts'
import { policyRuleTable } from '../../../src/control/rules/decide.ts'
import { publishedOperations } from '../../../src/kernel/contract/area.ts'
import { refusalTexts } from '../../../src/surface/console-pages/refusal-texts.ts'
import { germanDenialReason, ruleName } from '../../../src/surface/console-pages/rule-texts.ts'
import { consolePageTexts } from '../../../src/surface/console-pages/texts.ts'

const namesIn = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, member]) => [
        name,
        ...namesIn(member).map(below => `${name}.${below}`),
      ])

test('both languages have the same texts, all of them translated', () => {
  expect(namesIn(consolePageTexts.de)).toEqual(namesIn(consolePageTexts.en))
  expect(Object.keys(refusalTexts('de'))).toEqual(Object.keys(refusalTexts('en')))
  for (const [code, words] of Object.entries(refusalTexts('en')))
    expect(refusalTexts('de')[code]).not.toBe(words)
})

test.each(policyRuleTable.map(({ name }) => name))('the rule %s has a name in both languages', name => {
  expect(ruleName(name, 'en')).not.toBe(name)
  expect(ruleName(name, 'de')).not.toBe(name)
})

test('the German reason for approval has the amount of the limit, if there is one', () => {
  expect(germanDenialReason('autoApproveLimitEuros', { limit: '10,00 €', used: 25 })).toContain('10,00 €')
  expect(germanDenialReason('autoApproveLimitEuros', { limit: '', used: 25 })).not.toContain('€')
})

const CALLED = [
  'console.redeemLink',
  'console.session',
  'console.signOut',
  'console.signInOptions',
  'console.signIn',
  'sso.start',
  'sso.signIn',
  'passkeys.registerOptions',
  'passkeys.registerVerify',
  'intents.challenge',
  'intents.approve',
  'intents.deny',
  'intents.get',
  'sessions.lookup',
  'sessions.challenge',
  'sessions.verify',
  'sessions.deny',
  'cliAuth.challenge',
  'cliAuth.approve',
  'cliAuth.deny',
  'agents.create',
  'oauth.challenge',
  'oauth.approve',
]

/**
 * Refusals that the pages cannot cause: they name no other person, removed people have no session, and no
 * caller is a key.
 */
const NEVER = new Set(['person_mismatch', 'person_not_found', 'person_required', 'scope_not_held'])

test.each(CALLED)('every refusal of %s has a remedy', key => {
  const called = publishedOperations(areas).find(registered => registered.key === key)
  expect(called?.key).toBe(key)
  const codes = Object.keys(called?.operation.fails ?? {}).filter(code => !NEVER.has(code))
  expect(codes.filter(code => refusalTexts('en')[code] === undefined)).toEqual([])
})
