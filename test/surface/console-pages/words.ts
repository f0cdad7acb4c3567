import { expect, test } from '@jest/globals'
import { ruleTable } from '../../../src/control/rules/decide.ts'
import { refusalWords } from '../../../src/surface/console-pages/refusal-words.ts'
import { germanReason, ruleName } from '../../../src/surface/console-pages/rule-words.ts'
import { texts } from '../../../src/surface/console-pages/texts.ts'

const namesIn = (value: unknown): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([name, member]) => [
        name,
        ...namesIn(member).map(below => `${name}.${below}`),
      ])

test('both languages say the same things, and not in the same words', () => {
  expect(namesIn(texts.de)).toEqual(namesIn(texts.en))
  expect(Object.keys(refusalWords('de'))).toEqual(Object.keys(refusalWords('en')))
  for (const [code, words] of Object.entries(refusalWords('en')))
    expect(refusalWords('de')[code]).not.toBe(words)
})

test.each(ruleTable.map(({ name }) => name))('the rule %s has a name in both languages', name => {
  expect(ruleName(name, 'en')).not.toBe(name)
  expect(ruleName(name, 'de')).not.toBe(name)
})

test('a limit that asks a person is told in German with its amount, and the lack of one without', () => {
  expect(germanReason('autoApproveLimitEuros', { limit: '10,00 €', used: 25 })).toContain('10,00 €')
  expect(germanReason('autoApproveLimitEuros', { limit: '', used: 25 })).not.toContain('€')
})
