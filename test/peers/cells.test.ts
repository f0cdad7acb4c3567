import { beforeAll, describe, expect, test } from '@jest/globals'
import { Client, Connection } from '@temporalio/client'
import { type Cell, DASHBOARD_SECRET, type Place, restartApi } from '../production/cells/cell.ts'
import { type Cells, startCells } from '../production/cells/cells.ts'
import { burst, hasStatus, transfersOf } from '../support/burst.ts'
import { clientAt } from '../support/client.ts'
import { anAgentUnder, anIntent, aToken, aWallet, bodyOf } from '../support/factories.ts'
import { plainHttp } from '../support/plain-http.ts'
import { beforeRemoval, temporaryFolder } from '../support/processes/folders.ts'
import { ownTemporal } from '../support/processes/own-servers.ts'
import { queryValues } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

let cells: Cells
let temporal: Client
let place: Place

beforeAll(async () => {
  const { address } = await ownTemporal({ durable: false })
  place = {
    folder: temporaryFolder(),
    newFolder: () => temporaryFolder(),
    temporalAddress: address,
    closeLater: beforeRemoval,
  }
  cells = await startCells(place)
  const connection = await Connection.connect({ address })
  beforeRemoval(() => connection.close())
  temporal = new Client({ connection })
})

const ask: ReturnType<typeof plainHttp> = (...request) => plainHttp(cells.proxy.url)(...request)

const host = ({ name }: Cell) => ({ host: `${name}.pay.example.com` })

/** Opens an account at the address of a cell; returns its key. */
async function openAccount(cell: Cell): Promise<string> {
  const { body, text } = await ask('POST', '/customers', {
    headers: { ...host(cell), 'x-dashboard-secret': DASHBOARD_SECRET },
    body: { name: 'Owner', email: 'owner@example.com', type: 'business', country: 'DE' },
  })
  if (!body.key) throw new Error(text)
  return body.key
}

const at = (token: string) => clientAt({ url: cells.proxy.url, token })

const REFERENCES = `select reference from transfers where reference like 'burst-%'`

const isStoredIn = async ({ database }: Cell, intentId: string): Promise<boolean> =>
  (await queryValues(database.url, 'select id from intents where id = $1', [intentId])).length === 1

describe('HAProxy before two cells', () => {
  test('sends each key and agent token to the cell that issued it, under one address', async () => {
    const { first, second } = cells
    for (const [cell, other] of [
      [first, second],
      [second, first],
    ] as const) {
      const key = await openAccount(cell)
      expect(key).toMatch(new RegExp(`^sk_sandbox_${cell.name}_`))
      const agent = await anAgentUnder(at(key), { autoApproveLimitEuros: 10 })
      const { token } = await aToken(at(key), agent.id)
      const { id } = await anIntent(at(String(token)), agent.id, { amountEuros: 5 })
      expect([await isStoredIn(cell, id), await isStoredIn(other, id)]).toEqual([true, false])
      const elsewhere = await ask('GET', '/intents', { token: key, headers: host(other) })
      expect([elsewhere.status, elsewhere.headers.get('x-error-code')]).toEqual([401, 'unauthenticated'])
    }
    expect((await ask('GET', '/intents', { token: `sk_live_${'x'.repeat(43)}` })).status).toBe(401)
    expect((await ask('GET', '/health')).status).toBe(200)
  })

  test('answers for a cell while the API of the other one is killed, and for that one when it is back', async () => {
    const { first, second } = cells
    const [ofFirst, ofSecond] = [await openAccount(first), await openAccount(second)]
    await second.programs.api.kill()
    const waiting = ask('GET', '/agents', { token: ofSecond })
    expect((await ask('GET', '/agents', { token: ofFirst })).status).toBe(200)
    const { status, headers } = await waiting
    expect([status, headers.get('retry-after'), headers.get('x-error-code')]).toEqual([
      503,
      '1',
      'unavailable',
    ])

    await restartApi(second, place)
    await until(
      'the cell is back',
      async () => (await ask('GET', '/agents', { token: ofSecond })).status === 200,
    )
  })

  test('follows a cell to another machine, where each request is stored once and runs go on', async () => {
    const key = await openAccount(cells.second)
    const agent = await anAgentUnder(at(key), { autoApproveLimitEuros: 10 })
    const open = await anIntent(at(key), agent.id)
    const run = temporal.workflow.getHandle(String(open.workflowId))
    await until('its run', () => run.describe().catch(() => undefined))
    const [from, to] = [await aWallet(at(key), 10_000), await aWallet(at(key))]
    const requestFor = transfersOf(from.id, to.id)
    const running = burst(cells.proxy.url, key, { lanes: 3, restMs: 20, requestFor })
    await until('thirty transfers', () => running.succeeded() >= 30)
    const { cell } = await cells.moveSecond()
    const before = running.succeeded()
    await until('thirty transfers more', () => running.succeeded() >= before + 30)
    const creates = await running.stop()

    const stored = (await queryValues(cell.database.url, REFERENCES)).map(String)
    expect(new Set(stored).size).toBe(stored.length)
    expect(creates.filter(hasStatus(201)).filter(({ name }) => !stored.includes(name))).toEqual([])
    const { availableEuros } = await bodyOf(at(key).wallets.balance({ params: { id: to.id } }))
    expect(availableEuros).toBe(stored.length)
    const failed = creates.filter(entry => !hasStatus(201)(entry))
    expect(failed.filter(({ response }) => ![502, 503].includes(response?.status ?? 0))).toEqual([])
    await bodyOf(at(key).intents.deny({ params: { id: open.id }, body: { reason: 'Too expensive' } }))
    await until('the end of its run', async () => (await run.describe()).status.name === 'COMPLETED')
    await expectVerifiedLedger(at(key))
    await until('a sealed trail', async () => (await bodyOf(at(key).audit.verify())).ok)
  })
})
