import { describe, expect, test } from '@jest/globals'
import { accountPlace, consolePlaces, consoleSections } from '../../../src/surface/console/sections.ts'
import { anAgentUnder, anIntent, aToken, bodyOf } from '../../support/factories.ts'
import { signedInTo } from '../../support/identity/console.ts'
import { withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { aVisitor, service } from './visitors.ts'

/** Cancels statements that wait for a lock, like the statement timeout of the service. */
const END_WAITING = `select pg_cancel_backend(pid) from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and state = 'active'`

const anAgent = async (visitor: Awaited<ReturnType<typeof aVisitor>>, name = 'Scout') =>
  bodyOf(visitor.owner.client.agents.create({ body: { name } }))

const navigationIn = (text: string, name: string): string =>
  new RegExp(`<(nav|div)[^>]* class="${name}".*?</\\1>`, 's').exec(text)?.[0] ?? ''

const currentIn = (text: string, name: string): string | undefined =>
  /aria-current="\w+">(?:<svg.*?<\/svg><span>)?([^<]+)/.exec(navigationIn(text, name))?.[1]

const linksIn = (text: string, name: string, path = '/console'): string[] =>
  [...navigationIn(text, name).matchAll(/href="([^"]+)"/g)].map(
    ([, to]) => new URL(String(to), `${service.url}${path}`).pathname,
  )

const AGENT_COLUMN = /<th [^>]*>Agent</

describe('a page of the console', () => {
  test('leads a signed-out person to the sign-in page and back', async () => {
    const answer = await fetch(`${service.url}/console/agents?status=active`, {
      headers: { accept: 'text/html' },
      redirect: 'manual',
    })
    expect(answer.status).toBe(303)
    expect(answer.headers.get('location')).toBe('../login?to=console%2Fagents%3Fstatus%3Dactive')
  })

  test('loads only this origin, and cannot be framed', async () => {
    const visitor = await aVisitor()
    const { headers, text } = await visitor.read('console')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
    expect(text).not.toMatch(/<script(?![^>]*src=)|<style| style="| on\w+="/)
  })

  test('says in words that no real money moves in test mode, and looks otherwise in live mode', async () => {
    const visitor = await aVisitor()
    const { text } = await visitor.read('console')
    expect(text).toContain('<html lang="en" class="test"')
    expect(text).toContain('Test mode: no real money moves')
    const live = await signedInTo(service, { ownerId: visitor.owner.ownerId, mode: 'live' })
    const answer = await fetch(`${service.url}/console`, {
      headers: { ...live.headers, accept: 'text/html' },
    })
    const page = await answer.text()
    expect(page).toContain('<html lang="en" class="live"')
    expect(page).not.toContain('Test mode')
  })

  test('shows what is urgent also where what was unusual cannot be reckoned just now', async () => {
    const visitor = await aVisitor()
    await anAgent(visitor)
    const { status, text } = await withConnection(service.databaseUrl, async client => {
      await client.query('begin')
      await client.query('lock table spend_cells in access exclusive mode')
      let isThere = false
      const page = visitor.read('console').finally(() => {
        isThere = true
      })
      await until('the page is there', async () => {
        await service.sql(END_WAITING)
        return isThere
      })
      return page
    })
    expect(status).toBe(200)
    expect(text).toContain('This part updates with the next payment')
    expect(text).toContain('Nothing waits for you')
  })

  test('shows a viewer no button that would be refused, and an owner all of them', async () => {
    const visitor = await aVisitor()
    const { id } = await anAgent(visitor)
    const viewer = await aVisitor('viewer', visitor.owner)
    for (const path of ['console/agents', `console/agents/${id}`]) {
      expect((await visitor.read(path)).text).toContain('data-operation="POST /agents')
      expect((await viewer.read(path)).text).not.toContain('data-operation=')
    }
  })

  test('shows in its frame that a record does not exist, also for another owner’s record', async () => {
    const [visitor, stranger] = await Promise.all([aVisitor(), aVisitor()])
    const { id } = await anAgent(stranger, 'The other one')
    const answers = await Promise.all(
      [`console/agents/${id}`, 'console/agents/agent_nothing', 'console/nothing', 'console/nothing/x'].map(
        path => visitor.read(path),
      ),
    )
    for (const { status, text } of answers) {
      expect(status).toBe(404)
      expect(text).toContain('<h1>Not found</h1>')
      expect(text).toContain('aria-label="Places"')
      expect(text).not.toContain('The other one')
    }
  })

  test('does not cross over to the other mode', async () => {
    const visitor = await aVisitor()
    const { id } = await anAgent(visitor)
    const live = await signedInTo(service, { ownerId: visitor.owner.ownerId, mode: 'live' })
    const { status } = await fetch(`${service.url}/console/agents/${id}`, { headers: live.headers })
    expect(status).toBe(404)
  })

  test.each([
    ['console', 'Home', undefined],
    ['console/inbox', 'Inbox', 'Waiting'],
    ['console/transactions', 'Payments', 'All'],
    ['console/transactions?type=card', 'Payments', 'Card'],
    ['console/transactions?type=mpp', 'Payments', 'All'],
    ['console/agents', 'Agents', 'Agents'],
    ['console/presets', 'Agents', undefined],
    ['console/passkeys', undefined, 'Passkeys'],
    ['console/search?q=x', undefined, undefined],
  ])('marks on %s the place %s and the tab %s, for each role', async (path, place, tab) => {
    const visitor = await aVisitor()
    const approver = await aVisitor('approver', visitor.owner)
    for (const { read } of [visitor, approver]) {
      const { text } = await read(path)
      expect([currentIn(text, 'places'), currentIn(text, 'tabs')]).toEqual([place, tab])
    }
  })

  test('marks the place and the tab of a record', async () => {
    const visitor = await aVisitor()
    const { id } = await anAgent(visitor)
    const { text } = await visitor.read(`console/agents/${id}`)
    expect([currentIn(text, 'places'), currentIn(text, 'tabs')]).toEqual(['Agents', 'Agents'])
  })

  test('counts what waits beside the inbox, and no more than the inbox shows', async () => {
    const visitor = await aVisitor()
    const { client } = visitor.owner
    const badgeOn = async () =>
      /<span class="badge">(\d+)/.exec((await visitor.read('console/audit')).text)?.[1]
    expect(await badgeOn()).toBeUndefined()
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 10 })
    const [first] = [await anIntent(client, agent.id), await anIntent(client, agent.id)]
    await bodyOf(
      client.cardRequests.create({
        body: { type: 'new_card', agentId: agent.id, limits: {}, reason: 'Books' },
      }),
    )
    expect(await badgeOn()).toBe('3')
    await bodyOf(client.intents.deny({ params: { id: first.id }, body: { reason: 'No' } }))
    expect(await badgeOn()).toBe('2')
    const { text } = await visitor.read('console/audit?part=waiting-count')
    expect(text).toMatch(/<live-part id="waiting-count"[^>]*><span class="badge">2/)
    await bodyOf(client.sandbox.advance({ body: { days: 30 } }))
    expect(await badgeOn()).toBeUndefined()
  })

  test('is found in a place or in the account menu, and each place shows its pages as tabs', async () => {
    const { read } = await aVisitor()
    const home = (await read('console')).text
    const entries = [...linksIn(home, 'places'), ...linksIn(home, 'menu')].filter(path => path !== '/docs')
    const found = new Set<string>()
    for (const entry of entries)
      for (const path of [entry, ...linksIn((await read(entry.slice(1))).text, 'tabs', entry)])
        found.add(path.split('/')[2] ?? '')
    expect(entries).toHaveLength(11)
    const grouped = [...consolePlaces, accountPlace]
    const within = grouped.flatMap(place => Object.keys(place.within ?? {}))
    const isListed = (name: string) => found.has(name) || within.includes(name)
    const elsewhere = Object.keys(consoleSections).filter(name => !isListed(name))
    expect(elsewhere).toEqual(['ask'])
    expect(within.filter(name => found.has(name))).toEqual([])
  })

  test('offers the other mode where the account has people in both', async () => {
    const { owner, read } = await aVisitor()
    expect((await read('console')).text).not.toContain('Switch to')
    await signedInTo(service, { ownerId: owner.ownerId, mode: 'live' })
    expect((await read('console')).text).toContain('<a href="./login?to=console">Switch to live mode</a>')
  })

  test('names the token with which an agent acted on a record', async () => {
    const { owner, read } = await aVisitor()
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 10 })
    const { token } = await aToken(owner.client, agent.id, { label: 'Night laptop' })
    const intent = await anIntent(service.client(String(token)), agent.id)
    const { text } = await read(`console/intents/${intent.id}`)
    expect(text).toContain('<span class="by">by agent <bdi>Night laptop</bdi></span>')
  })

  test('says who did what to a record, and keeps the name of a deleted agent', async () => {
    const { owner, read } = await aVisitor()
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 10 })
    const intent = await anIntent(owner.client, agent.id)
    const history = /<ol class="timeline">.*?<\/ol>/s.exec(
      (await read(`console/agents/${agent.id}`)).text,
    )?.[0]
    expect(history).toMatch(
      /<span class="what">Created<\/span> <span class="by">by key <a href="[^"]+"><bdi>/,
    )
    await bodyOf(owner.client.agents.delete({ params: { id: agent.id } }))
    const { text } = await read(`console/intents/${intent.id}`)
    expect(text).toMatch(new RegExp(`agents/${agent.id}"><bdi>${agent.name}</bdi></a> <small>delet`))
  })

  test('leads from an earlier address to the present one, with its filters', async () => {
    const { read } = await aVisitor()
    const { status, headers } = await read('console/approvals?part=waiting')
    expect([status, headers.get('location')]).toEqual([308, 'inbox?part=waiting'])
  })

  test('shows the records of an agent as tabs with addresses of their own', async () => {
    const visitor = await aVisitor()
    const { client } = visitor.owner
    const agent = await anAgentUnder(client, { autoApproveLimitEuros: 50 })
    await anIntent(client, agent.id, { merchant: 'Bookshop' })
    await bodyOf(client.agentTokens.create({ params: { id: agent.id }, body: { label: 'Laptop' } }))
    await bodyOf(client.runs.create({ body: { agentId: agent.id, name: 'Review' } }))
    const path = `console/agents/${agent.id}`
    const first = (await visitor.read(path)).text
    const tabs = navigationIn(first, 'tabs within')
    const addresses = [...tabs.matchAll(/href="([^"]+)"/g)].map(
      ([, to]) => new URL(String(to), `${service.url}/${path}`),
    )
    expect(addresses.map(({ search }) => search)).toEqual(
      ['', 'activity', 'limits', 'cards', 'mandates', 'tokens', 'runs'].map(name => name && `?tab=${name}`),
    )
    expect(currentIn(first, 'tabs within')).toBe('Overview')
    const shown = [
      'History',
      'Bookshop',
      'Auto-approve',
      'No cards yet.',
      'No mandates yet.',
      'Laptop',
      'Review',
    ]
    for (const [index, { pathname, search }] of addresses.entries()) {
      const { status, text } = await visitor.read(`${pathname.slice(1)}${search}`)
      expect([search, status, text.includes(String(shown[index]))]).toEqual([search, 200, true])
      expect(text.match(/aria-current="page"/g)).toHaveLength(2)
      expect(text).not.toMatch(AGENT_COLUMN)
    }
    expect((await visitor.read('console/runs')).text).toMatch(AGENT_COLUMN)
    expect((await visitor.read(`${path}?tab=nothing`)).status).toBe(400)
    expect((await visitor.read(`console/policies/${agent.policyId}?tab=cards`)).status).toBe(400)
  })

  test('leads from Developers to the documentation', async () => {
    const { read } = await aVisitor()
    const { text } = await read('console/keys')
    expect(navigationIn(text, 'tabs')).toContain('<a href="../docs">Docs</a>')
    expect((await read('console/search?q=docs')).text).toContain('<a href="../docs">')
  })

  test('has no page by the name of a member of every object', async () => {
    const { read } = await aVisitor()
    for (const name of ['constructor', '__proto__', 'toString'])
      expect([name, (await read(`console/${name}`)).status]).toEqual([name, 404])
  })

  test('shows a merchant whose name looks like an id of no kind', async () => {
    const { owner, read } = await aVisitor()
    const agent = await anAgentUnder(owner.client, { autoApproveLimitEuros: 10 })
    for (const merchant of ['constructor_1', '__proto___1']) {
      const { id } = await anIntent(owner.client, agent.id, { merchant })
      const search = `console/search?q=${merchant}`
      for (const path of ['console', 'console/inbox', 'console/intents', `console/intents/${id}`, search]) {
        const { status, text } = await read(path)
        expect([path, status, text.includes(merchant)]).toEqual([path, 200, true])
        expect(text).not.toMatch(/function Object|object Object/)
      }
    }
  })

  test('offers in its search the export of a month, where its form is', async () => {
    const { read } = await aVisitor()
    const { text } = await read('console/search?q=export')
    expect(text).toContain('<a href="../console/statements"><span>Export a month of statements</span></a>')
  })

  test('returns only the requested parts', async () => {
    const visitor = await aVisitor()
    await anAgent(visitor, 'Scout')
    const { text } = await visitor.read('console/agents?part=list')
    expect(text).toMatch(
      /^<!doctype html><html data-person="person_\w+"><live-part id="list"[^>]*>[\s\S]*Scout[\s\S]*<\/live-part><\/html>$/,
    )
    expect((await visitor.read('console/agents?part=nothing')).text).not.toContain('<live-part')
  })

  test('shows an invalid filter with the message of the operation', async () => {
    const visitor = await aVisitor()
    const { status, text } = await visitor.read('console/agents?status=green')
    expect(status).toBe(400)
    expect(text).toMatch(/role="alert">status: [^<]*green/)
    expect(text).toContain('class="states"')
    expect((await visitor.read('console?colour=green')).status).toBe(400)
  })

  test('shows third-party names as text', async () => {
    const visitor = await aVisitor()
    const name = `<img src=x onerror=alert(1)></script>\u202e{{7*7}}`
    const { id } = await anAgent(visitor, name)
    for (const path of ['console/agents', `console/agents/${id}`]) {
      const { text } = await visitor.read(path)
      expect(text).toContain('&lt;img src=x onerror=alert(1)&gt;&lt;/script&gt;\ufffd{{7*7}}')
      expect(text).not.toContain('<img src=x')
    }
  })
})
