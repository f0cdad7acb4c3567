import { describe, expect, test } from '@jest/globals'
import { aCard } from '../../support/cards/cards.ts'
import { aFundedAgent, anAgentUnder, anIntent, aPolicy, bodyOf } from '../../support/factories.ts'
import { type FlakyProxy, flakyProxy } from '../../support/flaky-proxy.ts'
import { startTestService } from '../../support/harness.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { openAsOwner } from '../console-pages/devices.ts'

let proxy!: FlakyProxy
const service = await startTestService({
  env: { TEMPORAL_UI_URL: 'https://temporal.example.com/ui/' },
  async through(url) {
    proxy = await flakyProxy(url)
    return proxy.url
  },
})
const rules = { name: 'Books', autoApproveLimitEuros: 10, maxTransactionEuros: 50 }

async function anAccount() {
  const owner = await service.owner()
  const agent = await anAgentUnder(owner.client, rules)
  const readAs = async (role: 'owner' | 'approver' | 'viewer') => {
    const { headers: session } = await signedInTo(service, owner, { role })
    return async (path: string, headers: Readonly<Record<string, string>> = {}) => {
      const answer = await fetch(`${service.url}/${path}`, {
        headers: { ...session, accept: 'text/html', ...headers },
      })
      return { status: answer.status, text: await answer.text() }
    }
  }
  return { owner, client: owner.client, agent, readAs, read: await readAs('owner') }
}

const APPROVE = 'data-operation="POST /intents/{id}/approve"'
const challengeIn = 'data-challenge="POST /passkeys/intents/{id}/challenge"'

describe('the approvals', () => {
  test('show agent, amount, payee, purpose, the rules that require approval, and a similar intent', async () => {
    const { client, agent, read } = await anAccount()
    const members = { merchant: 'Bookshop & <b>Sons</b>', purpose: 'A book', runId: await aRun() }
    async function aRun() {
      return (await bodyOf(client.runs.create({ body: { agentId: agent.id, name: 'Review' } }))).id
    }
    const first = await anIntent(client, agent.id, members)
    await anIntent(client, agent.id, members)
    const { status, text } = await read('console/inbox')
    expect(status).toBe(200)
    expect(text).toContain('Bookshop &amp; &lt;b&gt;Sons&lt;/b&gt;')
    expect(text).toContain('2 payments wait, <data class="amount" value="50">€\u00a050.00</data> in total')
    expect(text).toContain('<strong>Auto-approve limit</strong>')
    expect(text).toMatch(new RegExp(`<strong>Possible duplicate</strong> of <a href="[^"]*${first.id}">`))
    expect(text).toContain('data-name="Left now"')
    expect(text.split(APPROVE)).toHaveLength(3)
    expect(text).toContain(challengeIn)
    expect(text).toContain('Approve all 2')
  })

  test('show remaining limits at request and now, and rules that refuse since', async () => {
    const { client, read } = await anAccount()
    const agent = await anAgentUnder(client, { ...rules, dailyLimitEuros: 100 })
    await anIntent(client, agent.id, { amountEuros: 40 })
    await anIntent(client, agent.id, { amountEuros: 9, merchant: 'Kiosk' })
    const left = async () => {
      const { text } = await read('console/inbox')
      const row =
        text
          .split('<tr>')
          .slice(1)
          .find(one => one.includes('Daily limit')) ?? ''
      return { amounts: [...row.matchAll(/value="([\d.]+)"/g)].map(([, value]) => Number(value)), text }
    }
    expect((await left()).amounts).toEqual([100, 0, 100, 91])
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: {} }))
    expect((await left()).text).toMatch(
      /This cannot be approved now\.[\s\S]*?<li><strong>[^<]+<\/strong> [^<]*<bdi>[^<]*frozen/i,
    )
  })

  test('say that a payment is held up by the card that is named, here and on the page of the intent', async () => {
    const { client, agent, read } = await anAccount()
    const { id: cardId } = await aCard(client, { agentId: agent.id })
    const { id } = await anIntent(client, agent.id, { cardId })
    const pages = async () =>
      (await Promise.all([read('console/inbox'), read(`approve/${id}`)])).map(({ text }) =>
        text.includes(`The card ${cardId} is frozen: no payment can be made with it until`),
      )
    expect(await pages()).toEqual([false, false])
    await bodyOf(client.cards.freeze({ params: { id: cardId }, body: {} }))
    expect(await pages()).toEqual([true, true])
  })

  test('let a viewer see what waits and decide nothing, and an approver decide', async () => {
    const { client, agent, readAs } = await anAccount()
    await anIntent(client, agent.id)
    const [asViewer, asApprover] = await Promise.all([readAs('viewer'), readAs('approver')])
    const [seen, decided] = await Promise.all([asViewer('console/inbox'), asApprover('console/inbox')])
    expect(seen.text).toContain('Bookshop')
    expect(seen.text).not.toContain('data-operation=')
    expect(decided.text).toContain(APPROVE)
  })

  test('remove decided intents, and show decision and decider', async () => {
    const { client, agent, read } = await anAccount()
    const intent = await anIntent(client, agent.id)
    const params = { id: intent.id }
    await bodyOf(client.intents.deny({ params, body: { reason: 'Too expensive' } }))
    const { text } = await read('console/inbox?part=waiting,decided')
    expect(text).toContain('Nothing waits for you.')
    expect(text).toMatch(/class="status bad">Denied<\/span>[\s\S]*<bdi>€\s25\.00 to Bookshop<\/bdi>/)
  })

  test('ask about cards, with limits to lower, and about payees that the bank knows otherwise', async () => {
    const { client, agent, read } = await anAccount()
    const limits = { maxTransactionEuros: 50 }
    const asked = { type: 'new_card', agentId: agent.id, usage: 'multi', limits, reason: 'Papers' } as const
    await bodyOf(client.cardRequests.create({ body: asked }))
    const wallet = await bodyOf(client.wallets.create({ body: { name: 'Main' } }))
    await bodyOf(client.fund.wallet({ params: { id: wallet.id }, body: { amountEuros: 100 } }))
    const payee = { name: 'Close Adler GmbH', iban: 'DE89370400440532013000' }
    const beneficiary = await bodyOf(client.beneficiaries.create({ body: payee }))
    const { id } = await bodyOf(
      client.transfers.create({
        body: { fromWalletId: wallet.id, beneficiaryId: beneficiary.id, amountEuros: 12.5 },
      }),
    )
    await service.sql(
      `update transfers set status = 'verifying', payee_check = '{"result":"close_match","suggestedName":"Adler GmbH","at":"2026-11-20T09:30:00.000Z"}' where id = $1`,
      [id],
    )
    const { text } = await read('console/inbox')
    expect(text).toContain('name="limits.maxTransactionEuros" value="50"')
    expect(text).toContain(
      '<strong>close match</strong>; the bank suggests <strong><bdi>Adler GmbH</bdi></strong>',
    )
    expect(text).toContain('<bdi>Close Adler GmbH</bdi>')
    expect(text).toContain('data-operation="POST /transfers/{id}/confirm-payee"')
    const home = await read('console')
    expect(home.text).toContain('Needs you <span class="count">2</span>')
    expect(home.text).toContain('<bdi>Close Adler GmbH</bdi>')
  })

  test('are approved together: read in one dialog, and each signed with a passkey', async () => {
    const { client } = await service.owner()
    const agent = await anAgentUnder(client, rules)
    const intents = [await anIntent(client, agent.id), await anIntent(client, agent.id, { merchant: 'Café' })]
    const { page, complaints } = await openAsOwner(client)
    await page.goto(new URL('console/inbox', page.url()).href)
    await page.getByRole('button', { name: 'Approve all 2' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Sign each with passkey' }).click()
    await page.locator('#waiting').getByText('Nothing waits for you.').waitFor()
    const statuses = await Promise.all(
      intents.map(async ({ id }) => (await bodyOf(client.intents.get({ params: { id } }))).status),
    )
    expect(statuses).toEqual(['approved', 'approved'])
    await anIntent(client, agent.id, { merchant: 'Later' })
    await page.locator('#waiting').getByText('Later').waitFor()
    expect(complaints).toEqual([])
  })
})

describe('the page of an intent', () => {
  test('shows its explanation, timeline, and its run in Temporal', async () => {
    const { client, agent, read } = await anAccount()
    const { id, workflowId } = await anIntent(client, agent.id)
    const { text } = await read(`console/intents/${id}`)
    expect(text).toContain('The intent waits for a person')
    expect(text).toMatch(/<ol class="timeline"><li><span class="what">Created<\/span> <span class="by">by /)
    const run = `https://temporal.example.com/ui/namespaces/default/workflows/${encodeURIComponent(String(workflowId))}`
    expect(text).toContain(`<a href="${run}"`)
    expect(text).toContain(`agentpay intents get ${id}`)
    expect(text).toContain(`href="../../intents/${id}"`)
  })
})

describe('the home page', () => {
  test('shows the used budget and frozen agents, and says that nothing fails', async () => {
    const { client, agent, read } = await anAccount()
    expect((await read('console')).text).toContain('No shared budget.')
    await bodyOf(client.policies.setBudget({ body: { dailyLimitEuros: 100 } }))
    await anIntent(client, agent.id, { amountEuros: 8 })
    await bodyOf(client.agents.freeze({ params: { id: agent.id }, body: { reason: 'It buys too much' } }))
    const { text } = await read('console')
    expect(text).toContain('Nothing waits for you')
    expect(text).toMatch(
      /of <data class="amount" value="100">[^<]*<\/data><svg[^>]*><rect width="8" height="4"\/>/,
    )
    expect(text).toContain('It buys too much')
    expect(text).toContain('Nothing is failing. No webhooks yet.')
  })
})

describe('the risk page', () => {
  test('shows an alert with its signals, and lets an owner unfreeze the agent', async () => {
    const { client, read, readAs } = await anAccount()
    const { id: policyId } = await aPolicy(client, rules)
    const agent = await aFundedAgent(client, { policyId })
    const thresholds = { review: 10, deny: 15, freeze: 20 }
    const weights = { newMerchant: 60, velocity: 0, amountOutlier: 0, impossibleTravel: 0, oddHour: 0 }
    await bodyOf(client.risk.configure({ body: { thresholds, weights } }))
    await anIntent(client, agent.id, { merchant: 'Casino' })
    const { text } = await read('console/risk')
    expect(text).toContain('The agent has never paid this merchant.')
    expect(text).toContain('data-operation="POST /risk/agents/{id}/unfreeze"')
    expect(text).toMatch(/name="thresholds\.freeze" value="20"/)
    expect((await (await readAs('approver'))('console/risk')).text).not.toContain('data-operation=')
    expect((await read('console/unusual-spends')).text).toContain('Casino')
  })
})

describe('the search', () => {
  test('leads from an id to its page, and from a request to what it caused', async () => {
    const { client, agent, read } = await anAccount()
    const intent = await anIntent(client, agent.id)
    const found = await read(`console/search?q=%20${intent.id}`)
    expect(found.text).toContain(`http-equiv="refresh" content="0; url=../console/intents/${intent.id}"`)
    const { data } = await bodyOf(client.audit.list({ query: { resource: intent.id } }))
    const requestId = String(data[0]?.requestId)
    const caused = await read(`console/search?q=${requestId}`)
    expect(caused.text).toContain(`url=../console/causes/${requestId}`)
  })

  test('finds agents by a part of their name, intents by merchant, and nothing of another owner', async () => {
    const [{ client, agent, read }, stranger] = await Promise.all([anAccount(), anAccount()])
    await bodyOf(client.agents.update({ params: { id: agent.id }, body: { name: '100% Scout' } }))
    await anIntent(client, agent.id, { merchant: 'Bookshop' })
    expect((await read('console/search?q=scou')).text).toContain('100% Scout')
    expect((await read('console/search?q=0%25')).text).toContain('100% Scout')
    expect((await read('console/search?q=_')).text).toContain('No results.')
    expect((await read('console/search?q=BOOKSHOP')).text).toContain('All intents to this merchant')
    expect((await stranger.read('console/search?q=scou')).text).toContain('No results.')
    expect((await read(`console/search?q=${'x'.repeat(300)}`)).status).toBe(200)
  })
})

describe('while the database is away', () => {
  test('a page says so, what it means and what helps, in the reader’s language, and comes back by itself', async () => {
    const { read } = await anAccount()
    await proxy.close()
    const { status, text } = await read('console/intents/intent_1')
    const german = await read('console', { 'accept-language': 'de' })
    const style = /href="([^"]+\.css)"/.exec(text)?.[1]
    await proxy.open()
    expect(status).toBe(503)
    expect(text).toContain('<h1>The database is unreachable</h1>')
    expect(text).toContain('http-equiv="refresh" content="10"')
    expect(text).toContain('GET /health')
    expect(german.text).toContain('Die Datenbank ist nicht erreichbar')
    const sheet = await fetch(new URL(String(style), `${service.url}/console/intents/intent_1`))
    expect(sheet.headers.get('content-type')).toBe('text/css; charset=utf-8')
    expect((await read('console')).status).toBe(200)
  })
})
