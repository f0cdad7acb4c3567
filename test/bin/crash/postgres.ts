import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { commit } from '../../../src/kernel/database/connection.ts'
import type { Database } from '../../../src/kernel/database/prepared-sql.ts'
import { ProcessLeases } from '../../../src/kernel/database/process-lease.ts'
import { openDatabase } from '../../../src/platform/database.ts'
import { burst, expectStored, hasStatus, NAMES } from '../../support/burst.ts'
import { http } from '../../support/harness.ts'
import { type OwnPostgres, ownPostgres } from '../../support/processes/own-servers.ts'
import { type Api, createOwner, startApi } from '../../support/processes/processes.ts'
import { queryValues } from '../../support/rows.ts'
import { until } from '../../support/until.ts'

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

  test('has each lease that a process believes in, for as long', async () => {
    await queryValues(postgres.url, `alter system set wal_writer_delay = '10s'`)
    await queryValues(postgres.url, 'select pg_reload_conf()')
    const database = openDatabase(postgres.url, 1)
    const leases = new ProcessLeases(database)
    const id = await leases.of('calls').hold()
    await leases.round()
    const held = () => queryValues(postgres.url, 'select held_until from process_leases where id = $1', [id])
    const before = await held()
    await crash('SIGKILL')
    expect([before.length, await held()]).toEqual([1, before])
    await leases.end()
    await database.close()
  })

  test('leads to no false conclusion from a transaction number that the crash freed', async () => {
    const lost = new pg.Client({ connectionString: postgres.url })
    lost.on('error', () => undefined)
    await lost.connect()
    await lost.query('begin')
    const { rows: numbers } = await lost.query('select pg_current_xact_id()::text as id')
    await crash('SIGQUIT')
    await queryValues(postgres.url, 'select pg_current_xact_id()')

    const pool = new pg.Pool({ connectionString: postgres.url, max: 1 })
    const commits = commit({ pool } as unknown as Database, lost as pg.PoolClient, {
      id: numbers[0].id,
      event: { ownerId: 'customer_1', mode: 'test', id: 'event_of_the_lost' },
    })
    await expect(commits).rejects.toThrow('not queryable')
    await pool.end()
  })
})
