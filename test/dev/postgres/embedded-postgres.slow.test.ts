import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import {
  type EmbeddedPostgres,
  removePostgres,
  startPostgres,
} from '../../../src/dev/postgres/embedded-postgres.ts'
import { isRunning } from '../../../src/dev/processes/process-table.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { launch } from '../../support/processes/launched.ts'
import { parentOf } from '../../support/processes/parent-of.ts'
import { until } from '../../support/until.ts'

const start = (dataDir: string) => startPostgres({ dataDir, port: 0, durable: false })

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query({ text: sql, rowMode: 'array' })).rows.flat()
  } finally {
    await client.end()
  }
}

async function using<T>(dataDir: string, work: (postgres: EmbeddedPostgres) => Promise<T>): Promise<T> {
  const postgres = await start(dataDir)
  try {
    return await work(postgres)
  } finally {
    await postgres.stop()
  }
}

// A shared data directory for tests that begin with data, as initdb takes several times as long as a start.
const usedDataDir = temporaryFolder()

const postmasterPid = (dataDir: string) =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'), 10)

describe('an embedded PostgreSQL', () => {
  test('listens on this machine only, in UTF-8, and requires its password', async () => {
    const dataDir = temporaryFolder()
    await using(dataDir, async ({ url }) => {
      expect(await query(url, 'SHOW listen_addresses')).toEqual(['127.0.0.1'])
      expect(await query(url, 'SHOW server_encoding')).toEqual(['UTF8'])
      expect(statSync(join(dataDir, 'postgres/password')).mode & 0o777).toBe(0o600)
      await expect(query(url.replace(/:[^:]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow('password')
    })
  })

  test('keeps its data and its port over a restart', async () => {
    const first = await using(usedDataDir, async ({ url }) => {
      await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer')
      return url
    })
    await using(usedDataDir, async ({ url }) => {
      expect(url).toBe(first)
      expect(await query(url, 'SELECT answer FROM kept')).toEqual([42])
    })
  })

  test('takes a port of its own beside another one', async () => {
    const [first, second] = await Promise.all([start(temporaryFolder()), start(temporaryFolder())])
    expect(new URL(first.url).port).not.toBe(new URL(second.url).port)
    await Promise.all([first.stop(), second.stop()])
  })

  test('is restarted on the same port when its server is killed', async () => {
    await using(usedDataDir, async ({ url }) => {
      const killed = postmasterPid(usedDataDir)
      process.kill(killed, 'SIGKILL')
      const rows = await until('a new server', () => query(url, 'SELECT 1').catch(() => null))
      expect(rows).toEqual([1])
      expect(postmasterPid(usedDataDir)).not.toBe(killed)
    })
  })
})

describe('an embedded PostgreSQL after a crash', () => {
  test('is restarted with its guard when the guard is killed', async () => {
    await using(usedDataDir, async ({ url }) => {
      const server = postmasterPid(usedDataDir)
      process.kill(parentOf(server), 'SIGKILL')
      await until('the end of the old server', () => !isRunning(server))
      const rows = await until('a new server', () => query(url, 'SELECT 1').catch(() => null))
      expect(rows).toEqual([1])
    })
  })

  test('ends with its killed parent, and the next start finds the data', async () => {
    const parent = launch(process.execPath, ['test/support/processes/postgres-process.ts', usedDataDir])
    const [, url = ''] = await parent.untilOutput(/ready (\S+)/)
    await query(url, 'CREATE TABLE left_behind AS SELECT 42 AS answer')
    const server = postmasterPid(usedDataDir)
    parent.kill('SIGKILL')
    await using(usedDataDir, async next => {
      expect(next.url).toBe(url)
      expect(await query(url, 'SELECT answer FROM left_behind')).toEqual([42])
      expect(isRunning(server)).toBe(false)
    })
  })

  test('killed during initdb starts anew with a complete cluster', async () => {
    const dataDir = temporaryFolder()
    const home = join(dataDir, 'postgres')
    const parent = launch(process.execPath, ['test/support/processes/postgres-process.ts', dataDir])
    await until(
      'initdb at work',
      () => existsSync(home) && readdirSync(home).some(name => name.startsWith('unfinished-')),
    )
    parent.kill('SIGKILL')
    await using(dataDir, async ({ url }) => {
      expect(await query(url, 'SELECT 1')).toEqual([1])
    })
  })

  test('ignores a pid file that names another program', async () => {
    await using(usedDataDir, async () => undefined)
    const stale = join(usedDataDir, 'postgres/data/postmaster.pid')
    writeFileSync(stale, `${process.pid}\n${join(usedDataDir, 'postgres/data')}\n`)
    await using(usedDataDir, async ({ url }) => {
      expect(await query(url, 'SELECT 1')).toEqual([1])
    })
  })
})

const asRoot = process.getuid?.() === 0 ? describe : describe.skip

asRoot('an embedded PostgreSQL of root', () => {
  test('lies elsewhere if its directory is closed to other users, and is removed from there', async () => {
    const closed = temporaryFolder(0o700)
    const dataDir = join(closed, 'data')
    mkdirSync(dataDir)
    await using(dataDir, async ({ url }) => {
      expect(await query(url, 'SELECT 1')).toEqual([1])
    })
    const elsewhere = readlinkSync(join(dataDir, 'postgres'))
    expect(existsSync(join(elsewhere, 'data/PG_VERSION'))).toBe(true)
    await removePostgres(dataDir)
    expect(existsSync(elsewhere)).toBe(false)
    expect(readdirSync(dataDir)).toEqual([])
  })
})
