import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { ledgerBalance } from '../../support/commerce/disputes.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { busy } from '../../support/http/in-front.ts'
import { launch } from '../../support/processes/launched.ts'
import { expectVerifiedLedger } from '../../support/verified-ledger.ts'

const service = await startTestService()
const folder = mkdtempSync(join(tmpdir(), 'after-sale-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('the example of what happens after the sale', () => {
  test('has half of a payment back, wins the other half, loses another one, and the books show it', async () => {
    const { client, key } = await service.owner()
    const env = { URL: await busy(service.url), KEY: key }
    const example = launch(process.execPath, ['examples/after-sale/after-sale.mjs', folder], env)
    const code = await example.exit
    const output = example.output()
    expect([code, output]).toEqual([0, expect.stringContaining('The statement of')])
    for (const line of [
      'The receipt is matched, by text (100 points',
      'Half is back, by the network: € 307.99 there; the ledger agrees',
      'At the deadline it is submitted',
      'won: The card network has decided for you: € 92.01 stays yours. € 400.00 there; the ledger agrees',
      'lost: The card network has decided for the merchant. € 307.98 there; the ledger agrees',
    ])
      expect(output).toContain(line)
    expect(output).not.toMatch(/sk_|at_/)
    const bundle = readFileSync(join(folder, 'bundle.pdf')).toString('latin1')
    // The facts, the timeline, and a page for each of the two receipts.
    expect(bundle.match(/\/Type \/Page\b/g)?.length).toBe(4)
    expect(bundle.match(/\/Subtype \/Image/g)?.length).toBeGreaterThanOrEqual(2)
    const { data } = await bodyOf(client.disputes.list({}))
    expect(data.map(({ status, creditedEuros }) => [status, creditedEuros])).toEqual([
      ['lost', 0],
      ['won', 92.01],
    ])
    for (const kind of ['disputes', 'receivable', 'losses', 'suspense'])
      expect([kind, await ledgerBalance(client, kind)]).toEqual([kind, 0])
    await expectVerifiedLedger(client)
  })

  test('is on the statement of its wallet, movement by movement', async () => {
    const { client, key } = await service.owner()
    const env = { URL: service.url, KEY: key }
    const begun = await bodyOf(client.sandbox.clock({}))
    expect(await launch(process.execPath, ['examples/after-sale/after-sale.mjs', folder], env).exit).toBe(0)
    const ended = await bodyOf(client.sandbox.clock({}))
    const { data: agents } = await bodyOf(client.agents.list({}))
    const walletId = String(agents[0]?.walletId)
    const months = new Set([begun, ended].map(({ now }) => now.slice(0, 7)))
    const headers = { authorization: `Bearer ${key}` }
    let lines = ''
    for (const period of months) {
      const { id } = await bodyOf(client.statements.create({ body: { walletId, period } }))
      lines += await (await fetch(`${service.url}/statements/${id}/csv`, { headers })).text()
    }
    for (const movement of [
      /Payment by card,Bookshop,.*,-184\.02,/,
      /"Payment by card, refunded",Bookshop,.*,92\.01,307\.99,/,
      /"Disputed payment, given back",Bookshop,.*,92\.01,400\.00,/,
      /Payment by card,Bookshop,.*,-92\.02,307\.98,/,
    ])
      expect(lines).toMatch(movement)
  })
})
