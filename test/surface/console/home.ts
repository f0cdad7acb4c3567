import { describe, expect, test } from '@jest/globals'
import { aPayingCard } from '../../support/cards/network.ts'
import { aDispute, paid } from '../../support/commerce/disputes.ts'
import { anAgent, anAgentUnder, anIntent, aPolicy, aWallet, bodyOf } from '../../support/factories.ts'
import { aVisitor } from './visitors.ts'

const namesOfSteps = (text: string, which: string): string[] => {
  const list = /<ol class="first-steps">[\s\S]*?<\/ol>/.exec(text)?.[0] ?? ''
  return [...list.matchAll(/<li data-key="([^"]+)"([^>]*)>/g)].flatMap(([, name = '', rest = '']) =>
    rest.includes(which) ? [name] : [],
  )
}

describe('the first steps on Home', () => {
  test('lead from an empty account to the first approved payment, each done when the data says so', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const home = async () => {
      const { text } = await read('console')
      return { text, done: namesOfSteps(text, 'class="done"'), next: namesOfSteps(text, 'aria-current') }
    }
    const keyed = ['Create an API key']
    const empty = await home()
    expect([empty.done, empty.next]).toEqual([keyed, ['Create an agent']])
    expect(empty.text).toContain('data-operation="POST /agents"')
    const agent = await anAgent(client)
    expect((await home()).next).toEqual(['Set its limits'])
    const { id: policyId } = await aPolicy(client, { autoApproveLimitEuros: 10 })
    await bodyOf(client.policies.assign({ params: { agentId: agent.id }, body: { policyId } }))
    const limited = await home()
    expect(limited.next).toEqual(['Fund its wallet'])
    expect(limited.text).toContain('Add € 100 of test money')
    await bodyOf(client.fund.wallet({ params: { id: agent.walletId }, body: { amountEuros: 100 } }))
    expect((await home()).next).toEqual(['Declare the first intent'])
    const { id } = await anIntent(client, agent.id)
    const waiting = await home()
    expect(waiting.next).toEqual(['Approve it'])
    expect(waiting.text).toContain(`console/intents/${id}`)
    await bodyOf(client.intents.approve({ params: { id }, body: {} }))
    expect((await home()).text).not.toContain('<ol class="first-steps"')
  })

  test('are not shown to a viewer, who could do none of them', async () => {
    const { owner } = await aVisitor()
    const viewer = await aVisitor('viewer', owner)
    const { status, text } = await viewer.read('console')
    expect(status).toBe(200)
    expect(text).not.toMatch(/first-steps"><|data-operation=/)
  })
})

describe('Home', () => {
  test('shows the available money by wallet, the spend of the month, and the last thirty days as a line', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const { id } = await aWallet(client, 250)
    await bodyOf(client.policies.setBudget({ body: { monthlyLimitEuros: 1_000 } }))
    const { text } = await read('console')
    expect(text).toMatch(/<p class="large"><data class="amount" value="250">/)
    expect(text).toContain(`console/wallets/${id}`)
    expect(text).toMatch(/<h2>Spent in \w+ \d{4}<\/h2>\s*<p class="large"><data class="amount" value="0">/)
    expect(text).toMatch(
      /of <data class="amount" value="1000">[^<]*<\/data><svg[^>]*><rect width="0" height="4"\/>/,
    )
    expect(text).toContain('Spend by day in the last 30 days. Nothing was spent.')
  })

  test('lists the five next deadlines, each to be decided in place', async () => {
    const { owner, read } = await aVisitor()
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 10 })
    for (const [n, hours] of [6, 2, 5, 1, 4, 3].entries())
      await anIntent(owner.client, agent.id, { merchant: `Shop ${n}`, expiresInMinutes: hours * 60 })
    const { text } = await read('console')
    const part = text.slice(text.indexOf('<live-part id="waiting"'), text.indexOf('<live-part id="unusual"'))
    expect([...part.matchAll(/to <bdi>(Shop \d)/g)].map(([, name]) => name)).toEqual(
      [3, 1, 5, 4, 2].map(n => `Shop ${n}`),
    )
    expect(part.split('data-operation="POST /intents/{id}/approve"')).toHaveLength(6)
    expect(part).toContain('View all 6 in the inbox')
  })
})

describe('the inbox', () => {
  test('has disputes with their deadline and payments without a receipt beside decisions, and filters by kind', async () => {
    const visitor = await aVisitor()
    const { client } = visitor.owner
    const { agent: payer, card } = await aPayingCard(client, 100)
    const { transactionId } = await paid(client, card.id, 25)
    expect((await visitor.read('console/inbox')).text).not.toContain('Missing receipts')
    await bodyOf(client.sandbox.advance({ body: { days: 4 } }))
    const alone = (await visitor.read('console/inbox')).text
    expect(alone).toMatch(new RegExp(`Missing receipt · <a [^>]*${payer.id}[^>]*>(<bdi>)?${payer.name}<`))
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
    await anIntent(client, agent.id, { expiresInMinutes: 60 })
    const dispute = await aDispute(client, transactionId)
    const { text } = await visitor.read('console/inbox')
    const items = [...text.matchAll(/<article class="ask" data-item data-key="([a-z]+)_/g)].map(
      ([, kind]) => kind,
    )
    expect(items).toEqual(['intent', 'dispute', 'txn'])
    expect(text).toMatch(/Decisions <span class="count">2<\/span>/)
    expect(text).toMatch(/Decisions <span class="count">2<[\s\S]*<h2>Missing receipts<\/h2>/)
    expect(text).toContain('lapses without evidence <time')
    const filtered = await visitor.read('console/inbox?kind=disputes')
    expect(filtered.text).toContain(`console/disputes/${dispute.id}`)
    expect(filtered.text).not.toContain('data-operation="POST /intents')
    expect((await visitor.read('console/inbox?kind=nothing')).status).toBe(400)
  })

  test('says why an intent cannot be approved now, in the place of the button, and how to change it', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    const rules = { name: 'Books', autoApproveLimitEuros: 10, maxTransactionEuros: 200 }
    const agent = await anAgentUnder(client, rules)
    const { id } = await anIntent(client, agent.id, { amountEuros: 49.9 })
    const before = (await read('console/inbox')).text
    expect(before).toContain('data-operation="POST /intents/{id}/approve"')
    expect(before).toMatch(/Limit per payment <strong><data[^>]*>€\s200\.00<\/data><\/strong><\/li>/)
    const policy = await bodyOf(client.policies.effective({ params: { agentId: agent.id } }))
    const body = { ...rules, dailyLimitEuros: 20 }
    await bodyOf(client.policies.replace({ params: { id: policy.id }, body }))
    for (const page of ['console/inbox', `console/intents/${id}`]) {
      const { text } = await read(page)
      expect(text).not.toContain('data-operation="POST /intents/{id}/approve"')
      expect(text).toContain('data-operation="POST /intents/{id}/deny"')
      expect(text).toMatch(
        /This cannot be approved now\.[\s\S]*daily limit of € 20\.00[\s\S]*raise the daily limit/,
      )
      expect(text).toContain(`agents/${agent.id}?tab=limits`)
    }
    await bodyOf(client.policies.replace({ params: { id: policy.id }, body: rules }))
    expect((await read('console/inbox')).text).toContain('data-operation="POST /intents/{id}/approve"')
  })

  test('says what is left of limits only, and calls an approval no payment', async () => {
    const { owner, read } = await aVisitor()
    await anAgentUnder(owner.client, { autoApproveLimitEuros: 10 })
    expect((await read('console/settings')).text).not.toContain('Left today')
    await bodyOf(owner.client.policies.setBudget({ body: { monthlyLimitEuros: 100 } }))
    const { text } = await read('console/settings')
    expect([text.includes('Left today'), text.includes('Left this month')]).toEqual([false, true])
    expect((await read('console/agents')).text).toMatch(/Last approval/)
  })

  test('lists fifty payments of more, checks those that expire next, and approves twenty together', async () => {
    const { owner, read } = await aVisitor()
    const { client } = owner
    await bodyOf(client.risk.configure({ body: { enabled: false } }))
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10, dailyLimitEuros: 5_000 })
    const shops = Array.from({ length: 51 }, (_, n) => n)
    for (const n of shops)
      await anIntent(client, agent.id, {
        merchant: `Shop ${n}`,
        ...(n < 11 && { expiresInMinutes: 60 + n }),
      })
    const { text } = await read('console/inbox')
    const items = text.split('<article').slice(1)
    const checked = items.filter(item => item.includes('Left now'))
    const names = checked.map(item => /<bdi>(Shop \d+)/.exec(item)?.[1])
    expect(items).toHaveLength(50)
    expect(names).toEqual(shops.slice(1, 11).map(n => `Shop ${n}`))
    expect(text).toContain('More requests wait, possibly with earlier deadlines: the newest 50')
    expect(text).toContain('>Approve the next 20</button>')
  })
})
