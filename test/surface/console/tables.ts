import { describe, expect, test } from '@jest/globals'
import { agentsApi } from '../../../src/control/agents/index.ts'
import { Problem, Refusal, RefusedError } from '../../../src/kernel/contract/problem.ts'
import type { LivePagePart, PageRequest } from '../../../src/surface/console/page.ts'
import { renderListPage } from '../../../src/surface/console/parts/list.ts'
import { aFundedAgent, aSepaTransfer, aWallet, bodyOf } from '../../support/factories.ts'
import { aVisitor } from './visitors.ts'

describe('a list of the console as CSV', () => {
  test('has every record that the filters leave, page after page, and no formula', async () => {
    const { owner, read } = await aVisitor()
    for (let batch = 0; batch < 3; batch++)
      await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          owner.client.agents.create({
            body: { name: `=cmd|"${batch}-${n}", always` },
          }),
        ),
      )
    const { status, text, headers } = await read('console/csv/agents?status=active')
    expect(status).toBe(200)
    expect(headers.get('content-disposition')).toContain('agents.csv')
    const [head, ...lines] = text.trimEnd().split('\r\n')
    expect(head).toMatch(/^id,name,status,/)
    expect(lines).toHaveLength(120)
    expect(lines[0]).toMatch(/,"'=cmd\|""2-\d+"", always",/)
    expect((await read('console/csv/agents?status=deleted')).text).toBe('id\r\n')
  })

  test('is a report as well, of the same span and with its columns', async () => {
    const { read } = await aVisitor()
    for (const report of ['costs', 'merchants', 'anomalies']) {
      const { status, headers } = await read(`console/csv/${report}?from=2026-11-01&to=2026-11-30`)
      expect([status, headers.get('content-disposition')]).toEqual([
        200,
        `attachment; filename="${report}-2026-11-01-2026-11-30.csv"`,
      ])
    }
  })

  test('is refused for a filter that is not valid, and for what has no list', async () => {
    const { read } = await aVisitor()
    expect((await read('console/csv/costs?from=2026-11-02&to=2026-11-01')).status).toBe(400)
    expect((await read('console/csv/agents?status=green')).status).toBe(400)
    expect((await read('console/csv/nothing')).status).toBe(404)
  })
})

async function aPayer() {
  const visitor = await aVisitor()
  const { client } = visitor.owner
  const wallet = await aWallet(client, 1_000)
  for (const amountEuros of [12.5, 40, 777.06])
    await aSepaTransfer(client, { fromWalletId: wallet.id, amountEuros })
  await bodyOf(client.sandbox.advance({ body: { minutes: 2 } }))
  return { ...visitor, client, wallet }
}

/** A request whose operations all have this answer. */
const requestFor = (answer: object) =>
  ({
    ask: async () => answer,
    query: {},
    section: { name: 'agents', title: 'Agents' },
    may: () => false,
    to: (path: string) => path,
    part: async ({ make }: LivePagePart) => make(),
  }) as unknown as PageRequest

const rowsIn = (text: string): number =>
  [...(/<tbody>([\s\S]*?)<\/tbody>/.exec(text)?.[1]?.matchAll(/<tr>/g) ?? [])].length

describe('a list of the console', () => {
  test('has a tab for each status with its number, and the total of what is listed', async () => {
    const { read } = await aPayer()
    const all = (await read('console/transactions')).text
    expect(all).toMatch(/aria-current="true">All <span class="count">3<\/span>/)
    expect(all).toMatch(/href="\?status=completed">Paid <span class="count">2<\/span>/)
    expect(all).toMatch(/href="\?status=declined">Declined<\/a>/)
    expect(all).toContain('Total: 3 · €\u00a0829.56')
    const paid = (await read('console/transactions?status=completed')).text
    expect(paid).toMatch(/href="\?status=completed" aria-current="true">Paid/)
    expect(paid).toContain('Total: 2 · €\u00a052.50')
    expect(rowsIn(paid)).toBe(2)
    const transfers = (await read('console/transfers?status=completed')).text
    expect(transfers).toMatch(/>All <span class="count">3<\/span>[\s\S]*Total: 2 · €\u00a052\.50/)
  })

  test('shows each set filter as a chip, finds by amount, merchant and picked days, and exports what it shows', async () => {
    const { read } = await aPayer()
    const today = new Date().toISOString().slice(0, 10)
    const query = `merchantContains=bäck&minAmountEuros=12.5&maxAmountEuros=40&from=${today}&to=&agentId=`
    const { status, text } = await read(`console/transactions?${query}`)
    expect(status).toBe(200)
    expect(rowsIn(text)).toBe(2)
    expect(text).toContain('aria-label="Remove the filter Merchant contains: bäck"')
    expect(text).toMatch(/>Amount <strong>€\u00a012\.50 – €\u00a040\.00<\/strong>/)
    expect(text).toMatch(/<input id="filter-from" type="date" name="from" value="\d{4}-\d\d-\d\d">/)
    const [, address = ''] = /href="\.\.\/(console\/csv\/transactions[^"]*)"/.exec(text) ?? []
    const exported = (await read(address.replaceAll('&amp;', '&'))).text.trimEnd().split('\r\n')
    expect(exported).toHaveLength(3)
    const yesterday = new Date(Date.now() - 2 * 86_400_000).toISOString().slice(0, 10)
    const none = await read(`console/transactions?to=${yesterday}`)
    expect(none.text).toContain('No matches.')
    expect((await read(`console/transactions?from=2026-02-30`)).status).toBe(400)
  })

  test.each(['from=foo', 'to=2026-13-45', 'from=2026-13-45T00:00:00Z', 'minAmountEuros=much'])(
    'refuses the filter %s as not valid',
    async filter => {
      const { read } = await aVisitor()
      expect((await read(`console/transactions?${filter}`)).status).toBe(400)
    },
  )

  test('is searched for a text that is cut within a character', async () => {
    const { read } = await aVisitor()
    const { status, text } = await read(`console/search?q=${'a'.repeat(199)}${encodeURIComponent('😀')}`)
    expect(status).toBe(200)
    expect(text).toContain('No results.')
  })

  test('links each row to its record, and leaves to a phone who, how much, by whom and in which state', async () => {
    const { read, client } = await aPayer()
    await aFundedAgent(client, { name: 'Scout' })
    const { text } = await read('console/transactions')
    expect(text).toMatch(
      /<td data-name="Payment" class="who"><div><a href="\.\.\/console\/transactions\/txn_\w+" data-panel>/,
    )
    for (const place of ['figure sum', 'state', 'by', 'when', 'wide-only'])
      expect(text).toContain(` class="${place}"><div>`)
    const { text: presets } = await read('console/presets')
    expect(presets).not.toContain('data-panel')
    expect(presets).not.toContain('<table class="list"')
  })

  test('exports a month of statements with one button, once there are statements', async () => {
    const { client, read, wallet } = await aPayer()
    const form = '<form method="get" class="export-month" action="../statements/export">'
    expect((await read('console/statements')).text).not.toContain(form)
    const { now } = await bodyOf(client.sandbox.advance({ body: { days: 31 } }))
    const today = new Date(now)
    const last = new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - 1, 1))
    const month = last.toISOString().slice(0, 7)
    const name = last.toLocaleString('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' })
    await bodyOf(client.statements.create({ body: { walletId: wallet.id, period: month } }))
    const { text } = await read('console/statements')
    expect(text).toContain(form)
    expect(text).toMatch(new RegExp(`<select [^>]*name="period"[^>]*><option value="${month}">${name}<`))
    expect(text).toContain('<button type="submit" class="main">Export</button>')
    expect((await read('statements/export?period=2020-01')).headers.get('x-error-code')).toBe('no_statements')
  })

  test('has no numbers while the service is busy or a filter is refused, and hides no defect', async () => {
    const pageWith = (error: Error) => {
      const spec = { kind: 'Agent', list: agentsApi.list, summary: () => Promise.reject(error) }
      return renderListPage(spec, requestFor({ data: [], nextCursor: null, hasMore: false }))
    }
    const busy = new Problem('busy')
    expect((await pageWith(busy)).content.text).toContain('No agents yet.')
    const refused = new RefusedError(new Refusal(400, 'invalid_filter', 'status: unknown'))
    expect((await pageWith(refused)).content.text).toContain('No agents yet.')
    await expect(pageWith(new TypeError('a defect'))).rejects.toThrow('a defect')
  })

  test('says where it is empty what will be there, and leads to the guide', async () => {
    const { read } = await aVisitor()
    for (const section of [
      'transactions',
      'transfers',
      'refunds',
      'statements',
      'cards',
      'agents',
      'policies',
    ]) {
      const { text } = await read(`console/${section}`)
      const [, guide = ''] =
        /class="empty">[\s\S]*?href="\.\.\/(docs\/guides\/[\w-]+)">Read the guide/.exec(text) ?? []
      expect([section, (await read(guide)).status]).toEqual([section, 200])
    }
  })
})
