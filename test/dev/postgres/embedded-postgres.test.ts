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

// What begins with data begins with this: to make a cluster costs several times what a start costs.
const used = temporaryFolder()

const postmasterPid = (dataDir: string) =>
  Number.parseInt(readFileSync(join(dataDir, 'postgres/data/postmaster.pid'), 'utf8'), 10)

describe('an embedded PostgreSQL', () => {
  test('listens on this machine only, in UTF-8, and wants its password', async () => {
    const dataDir = temporaryFolder()
    await using(dataDir, async ({ url }) => {
      expect(await query(url, 'SHOW listen_addresses')).toEqual(['127.0.0.1'])
      expect(await query(url, 'SHOW server_encoding')).toEqual(['UTF8'])
      expect(statSync(join(dataDir, 'postgres/password')).mode & 0o777).toBe(0o600)
      await expect(query(url.replace(/:[^:]+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow('password')
    })
  })

  test('keeps its data and its port', async () => {
    const first = await using(used, async ({ url }) => {
      await query(url, 'CREATE TABLE kept AS SELECT 42 AS answer')
      return url
    })
    await using(used, async ({ url }) => {
      expect(url).toBe(first)
      expect(await query(url, 'SELECT answer FROM kept')).toEqual([42])
    })
  })

  test('two at once take two ports', async () => {
    const [one, other] = await Promise.all([start(temporaryFolder()), start(temporaryFolder())])
    expect(new URL(one.url).port).not.toBe(new URL(other.url).port)
    await Promise.all([one.stop(), other.stop()])
  })

  test('starts again on the same port when its server is killed', async () => {
    await using(used, async ({ url }) => {
      const killed = postmasterPid(used)
      process.kill(killed, 'SIGKILL')
      const rows = await until('a new server', () => query(url, 'SELECT 1').catch(() => null))
      expect(rows).toEqual([1])
      expect(postmasterPid(used)).not.toBe(killed)
    })
  })
})

describe('after a misfortune', () => {
  test('kill -9 of the guard brings server and guard back', async () => {
    await using(used, async ({ url }) => {
      const server = postmasterPid(used)
      process.kill(parentOf(server), 'SIGKILL')
      await until('the end of the old server', () => !isRunning(server))
      const rows = await until('a new server', () => query(url, 'SELECT 1').catch(() => null))
      expect(rows).toEqual([1])
    })
  })

  test('kill -9 of the parent ends the server, and the next one finds the data', async () => {
    const parent = launch(process.execPath, ['test/support/processes/postgres-process.ts', used])
    const [, url = ''] = await parent.says(/ready (\S+)/)
    await query(url, 'CREATE TABLE left_behind AS SELECT 42 AS answer')
    const server = postmasterPid(used)
    parent.kill('SIGKILL')
    await using(used, async next => {
      expect(next.url).toBe(url)
      expect(await query(url, 'SELECT answer FROM left_behind')).toEqual([42])
      expect(isRunning(server)).toBe(false)
    })
  })

  test('kill -9 in the first set-up leaves no half of a cluster', async () => {
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

  test('a pid file that names another program does not matter', async () => {
    await using(used, async () => undefined)
    const stale = join(used, 'postgres/data/postmaster.pid')
    writeFileSync(stale, `${process.pid}\n${join(used, 'postgres/data')}\n`)
    await using(used, async ({ url }) => {
      expect(await query(url, 'SELECT 1')).toEqual([1])
    })
  })
})

const asRoot = process.getuid?.() === 0 ? describe : describe.skip

asRoot('as root', () => {
  test('below a directory that others cannot enter, the cluster lies elsewhere and is removed from there', async () => {
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
