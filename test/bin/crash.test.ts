import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { commit } from '../../src/kernel/database/connection.ts'
import type { Database } from '../../src/kernel/database/prepared-sql.ts'
import { type Burst, burst, type Create, create, transfersOf } from '../support/burst.ts'
import { clientAt } from '../support/client.ts'
import { cloneDatabase } from '../support/database.ts'
import { aWallet, bodyOf } from '../support/factories.ts'
import { http } from '../support/harness.ts'
import { type OwnPostgres, ownPostgres } from '../support/processes/own-servers.ts'
import { type Api, createOwner, startApi } from '../support/processes/processes.ts'
import { queryValues } from '../support/rows.ts'
import { until } from '../support/until.ts'
import { expectVerifiedLedger } from '../support/verified-ledger.ts'

const hasStatus = (status: number) => (entry: Create) => entry.response?.status === status

const TRACES = `
select count(*)::int,
  count(*) filter (where exists (select from events where created.id in (data ->> 'agentId', data ->> 'policyId')))::int,
  count(*) filter (where exists (select from events where resource_id = created.id))::int
from unnest($1::text[]) as created(id)
where id in (select id from agents union all select id from policies)`

/** Each transfer by its reference, with how often it was posted. */
const PAID = `
select reference || ' ' || (select count(*) from ledger_transfers p where p.reference_id = t.id)
from transfers t where to_wallet_id = $1`

const NAMES = 'select name from agents union all select name from policies'

/** Checks that every create answered with 201 is stored with its event, and nothing twice. */
async function expectStored(databaseUrl: string, creates: readonly Create[]): Promise<void> {
  const ids = creates.filter(hasStatus(201)).map(({ response }) => response?.body.id)
  expect(new Set(ids).size).toBe(ids.length)
  expect(await queryValues(databaseUrl, TRACES, [ids])).toEqual([ids.length, ids.length, ids.length])
  const names = await queryValues(databaseUrl, NAMES)
  expect(new Set(names).size).toBe(names.length)
}

describe('an API process that is killed in a burst', () => {
  let databaseUrl: string
  let api: Api
  let token: string
  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    api = await startApi(databaseUrl)
    token = await createOwner(api.url)
  })

  /** The creates of a burst in which the API process was killed; another process runs then. */
  async function killedIn(running: Burst): Promise<readonly Create[]> {
    await until('fifty creates', () => running.succeeded() >= 50)
    api.kill('SIGKILL')
    await api.exit
    const creates = await running.stop()
    expect(creates.some(({ response }) => response === undefined)).toBe(true)
    api = await startApi(databaseUrl)
    return creates
  }

  /** Repeats the creates that had a key, and checks that earlier answers are replayed. Returns all creates. */
  async function repeat(creates: readonly Create[]): Promise<Create[]> {
    const keyed = creates.filter(({ key }) => key !== null)
    const repeated = await Promise.all(keyed.map(entry => create(api.url, token, entry)))
    expect(repeated.filter(hasStatus(201))).toHaveLength(keyed.length)
    for (const [index, { response }] of repeated.entries()) {
      const before = keyed[index]?.response
      if (before) expect(response?.text).toBe(before.text)
      if (before) expect(response?.headers.get('idempotent-replayed')).toBe('true')
    }
    return [...creates.filter(({ key }) => key === null), ...repeated]
  }

  test('of creates has stored everything that it answered, and once', async () => {
    const creates = await killedIn(burst(api.url, token))
    await expectStored(databaseUrl, creates)
    await expectStored(databaseUrl, await repeat(creates))
  })

  test('of transfers has paid every transfer that it answered, none twice, and every cent is where it should be', async () => {
    const mine = () => clientAt({ url: api.url, token })
    const [from, to] = [await aWallet(mine(), 100_000), await aWallet(mine())]
    const creates = await killedIn(burst(api.url, token, { requestFor: transfersOf(from.id, to.id) }))
    const expectPaid = async (creates: readonly Create[]) => {
      const paid = await queryValues(databaseUrl, PAID, [to.id])
      const promised = creates.filter(hasStatus(201)).map(({ name }) => `${name} 1`)
      expect(paid).toEqual(expect.arrayContaining(promised))
      expect(new Set(paid.map(entry => String(entry).split(' ')[0])).size).toBe(paid.length)
      const { availableEuros } = await bodyOf(mine().wallets.get({ params: { id: to.id } }))
      expect(availableEuros).toBe(paid.length)
      await expectVerifiedLedger(mine())
    }
    await expectPaid(creates)
    await expectPaid(await repeat(creates))
  })
})

describe('a PostgreSQL that crashes under load', () => {
  let postgres: OwnPostgres
  let api: Api
  let token: string
  beforeAll(async () => {
    postgres = await ownPostgres()
    api = await startApi(postgres.url)
    token = await createOwner(api.url)
  })
  afterAll(async () => {
    api.kill('SIGTERM')
    await api.exit
  })

  /** Kills PostgreSQL and starts it again after a while. */
  async function crash(signal: 'SIGQUIT' | 'SIGKILL'): Promise<void> {
    await postgres.kill(signal)
    await until('health to tell', async () => (await http(api.url, 'GET', '/health', {})).status === 503)
    await sleep(500)
    await postgres.start()
  }

  test.each(['SIGQUIT', 'SIGKILL'] as const)(
    'by %s causes 503 until it is back, and loses nothing that was answered',
    async signal => {
      const running = burst(api.url, token)
      await until('thirty creates', () => running.succeeded() >= 30)
      await crash(signal)
      const before = running.succeeded()
      await until('thirty creates more', () => running.succeeded() >= before + 30)
      const creates = await running.stop()

      const refused = creates.filter(entry => !hasStatus(201)(entry))
      expect(refused.length).toBeGreaterThan(0)
      for (const { response } of refused) {
        expect(response?.status).toBe(503)
        expect(response?.headers.get('retry-after')).toMatch(/^\d+$/)
      }
      expect(Math.max(...creates.map(({ milliseconds }) => milliseconds))).toBeLessThan(30_000)
      await expectStored(postgres.url, creates)
      const undone = refused.filter(({ response }) => response?.headers.get('x-error-code') === 'unavailable')
      const stored = new Set(await queryValues(postgres.url, NAMES))
      expect(undone.filter(({ name }) => stored.has(name))).toEqual([])
      expect((await http(api.url, 'GET', '/health', {})).status).toBe(200)
    },
  )

  test('leads to no false conclusion from a transaction number that the crash freed', async () => {
    const lost = new pg.Client({ connectionString: postgres.url })
    lost.on('error', () => undefined)
    await lost.connect()
    await lost.query('begin')
    const { rows: numbers } = await lost.query('select pg_current_xact_id()::text as id')
    await crash('SIGQUIT')
    await queryValues(postgres.url, 'select pg_current_xact_id()')

    const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
    const gone = {
      query: () => Promise.reject(new Error('Connection terminated')),
    } as unknown as pg.PoolClient
    const commits = commit({ pool } as unknown as Database, gone, {
      id: numbers[0].id,
      event: { ownerId: 'customer_1', mode: 'test', id: 'event_of_the_lost' },
    })
    await expect(commits).rejects.toThrow('Connection terminated')
    await pool.end()
  })
})
