import { expect, test } from '@jest/globals'
import { ruleName } from '../../../src/surface/console-pages/rule-texts.ts'
import { aFundedAgent, anAgentUnder, anIntent, bodyOf, type TestClient } from '../../support/factories.ts'
import { aVisitor, type Visitor } from './visitors.ts'

type Rules = Parameters<typeof anAgentUnder>[1]
type IntentMembers = Parameters<typeof anIntent>[2]

/** Every policy leaves small amounts to the agent, so that the approval rule is never the one that denies. */
async function deniedUnder(client: TestClient, rules: Rules, members: IntentMembers = {}): Promise<string> {
  const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10, ...rules })
  const { id, status } = await anIntent(client, agent.id, { amountEuros: 40, ...members })
  expect([rules, status]).toEqual([rules, 'denied'])
  return id
}

const hour = new Date().getUTCHours()

const byPolicy: readonly (readonly [rule: string, rules: Rules, members?: IntentMembers])[] = [
  ['maxTransactionEuros', { maxTransactionEuros: 20 }],
  ['dailyLimitEuros', { dailyLimitEuros: 30 }],
  ['monthlyLimitEuros', { monthlyLimitEuros: 30 }],
  ['merchantBlocklist', { merchantBlocklist: ['Bookshop'] }],
  ['merchantAllowlist', { merchantAllowlist: ['Kiosk'] }],
  ['blockedMccs', { blockedMccs: ['5942'] }, { mcc: '5942' }],
  ['allowedMccs', { allowedMccs: ['5812'] }, { mcc: '5942' }],
  ['allowedCountries', { allowedCountries: ['DE'] }, { country: 'US' }],
  ['activeHoursStart', { activeHoursStart: (hour + 2) % 24, activeHoursEnd: (hour + 4) % 24 }],
]

/** The first bold words of the page’s content, and the sentence beside them. */
const firstBold = (text: string): readonly [name: string, reason: string] => {
  const [, name = '', reason = ''] =
    /<strong>([^<]*)<\/strong>\s*(?:<bdi>([^<]*)<\/bdi>)?/.exec(
      text.slice(text.indexOf('<live-part id="record"')),
    ) ?? []
  return [name, reason]
}

async function expectFirst({ owner, read }: Visitor, id: string, rule: string): Promise<void> {
  const { decision } = await bodyOf(owner.client.intents.get({ params: { id } }))
  const { text } = await read(`console/intents/${id}`)
  const [name, reason] = firstBold(text)
  expect([rule, name]).toEqual([rule, ruleName(rule, 'en')])
  expect(decision.checks.find(check => check.rule === rule)?.outcome).toBe('fail')
  expect(reason).toBe(decision.reason)
}

test.each(byPolicy)(
  'the page of an intent denied by %s shows that rule first',
  async (...[rule, rules, members]) => {
    const visitor = await aVisitor()
    await expectFirst(visitor, await deniedUnder(visitor.owner.client, rules, members), rule)
  },
)

test('the page of an intent above the shared budget, or without money, says so first', async () => {
  const visitor = await aVisitor()
  const { client } = visitor.owner
  const poor = await aFundedAgent(client, {}, 5)
  const { id: unfunded, status } = await anIntent(client, poor.id)
  await bodyOf(client.policies.setBudget({ body: { dailyLimitEuros: 20 } }))
  await expectFirst(visitor, await deniedUnder(client, {}), 'budget')
  if (status === 'denied') await expectFirst(visitor, unfunded, 'insufficient_funds')
})

test('the page of an intent that a person denied names the person and the reason first', async () => {
  const { owner, read } = await aVisitor()
  const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 10 })
  const { id } = await anIntent(owner.client, agent.id)
  await bodyOf(owner.client.intents.deny({ params: { id }, body: { reason: 'Too expensive' } }))
  const { text } = await read(`console/intents/${id}`)
  const [name, reason] = firstBold(text)
  expect(name).toMatch(/^Denied by /)
  expect(reason).toBe('Too expensive')
  expect(text).not.toContain('<strong>Auto-approve limit</strong>')
})
