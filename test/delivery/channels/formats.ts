import { readFileSync } from 'node:fs'
import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { isWithinHours } from '../../../src/delivery/channels/channel.ts'
import { emailParts, slackBody, teamsBody } from '../../../src/delivery/channels/formats.ts'
import { codeContent, linkContent, questionContent } from '../../../src/delivery/channels/texts.ts'
import { cents } from '../../../src/values/money.ts'
import { languages } from '../../../src/web/language.ts'

const facts = {
  agent: 'Agent *bold* _it_ `x`',
  amountCents: cents(123_456),
  payee: 'P',
  purpose: 'Q',
  person: null,
}
const kinds = ['intent', 'card_request', 'change_request', 'transfer', 'recovery'] as const

const question = (kind: (typeof kinds)[number]) => ({
  kind,
  facts: kind === 'recovery' ? { ...facts, agent: null, amountCents: null, person: 'Grace' } : facts,
  url: 'https://pay.example.com/approve/intent_1',
  isTest: false,
  hasDetails: true,
  isLastOfHour: true,
})

const contents = languages.flatMap(language => [
  ...kinds.map(kind => questionContent(question(kind), language)),
  codeContent('012345', language),
  linkContent({ kind: 'recovery', account: 'Ada & Co', url: 'https://pay.example.com/join#lnk_1' }, language),
])

test('a message for Teams matches the schema of an Adaptive Card in an incoming webhook', () => {
  const file = 'test/support/delivery/teams-message.json'
  const schema = z.fromJSONSchema(JSON.parse(readFileSync(file, 'utf8')))
  for (const content of contents) expect(() => schema.parse(teamsBody(content))).not.toThrow()
  expect(() => schema.parse(slackBody(contents[0] as never))).toThrow()
})

test.each([
  [null, null, [0, 12, 23], []],
  [7, 19, [7, 18], [6, 19, 0]],
  [22, 6, [22, 23, 0, 5], [6, 12, 21]],
] as const)(
  'the hours from %p to %p are those of UTC, over midnight as well',
  (hoursFrom, hoursTo, within, without) => {
    const at = (hour: number) =>
      isWithinHours({ hoursFrom, hoursTo }, new Date(`2026-11-28T${String(hour).padStart(2, '0')}:59:00Z`))
    for (const hour of within) expect([hour, at(hour)]).toEqual([hour, true])
    for (const hour of without) expect([hour, at(hour)]).toEqual([hour, false])
  },
)

test('a message for Slack stays below the limits of its blocks', () => {
  for (const content of contents)
    for (const { text } of slackBody(content).blocks) {
      expect(text.text.length).toBeGreaterThan(0)
      expect(text.text.length).toBeLessThanOrEqual(3_000)
    }
})

test('a message by e-mail says the same in both of its parts', () => {
  for (const content of contents) {
    const { text, html } = emailParts([content])
    for (const [label, value] of content.facts) {
      expect(text).toContain(`${label}: ${value}`)
      expect(html).toContain(value.replaceAll('&', '&amp;'))
    }
    if (content.link) expect(html).toContain(`href="${content.link.url}"`)
    expect(html).not.toMatch(/\bsrc=|url\(/)
  }
})

test('a message by e-mail has no link but its own, whatever an agent declares', () => {
  const declared = {
    ...facts,
    agent: 'www.agent.example',
    payee: 'shop.example',
    purpose: 'See https://evil.example/login or mail@evil.example',
  }
  for (const language of languages) {
    const { subject, text, html } = emailParts([
      questionContent({ ...question('intent'), facts: declared }, language),
    ])
    expect(text).toContain('See https[:]//evil[.]example/login or mail@evil[.]example')
    for (const part of [subject, text, html]) {
      const others = part.replaceAll('https://pay.example.com/approve/intent_1', '')
      expect(others).not.toMatch(/:\/\/|\p{L}\.example/u)
    }
  }
})
