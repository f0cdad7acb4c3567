import { readFileSync, utimesSync } from 'node:fs'
import { basename } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { filesOnDisk } from '../../../../src/adapters/files-on-disk/files-on-disk.ts'
import { sweepFiles } from '../../../../src/kernel/background/sweep-files.ts'
import { openDatabase } from '../../../../src/platform/database.ts'
import { openVault } from '../../../../src/ports/vault.ts'
import { ENCRYPTION_KEY } from '../../../support/harness.ts'
import { aPdf, form, lyingFiles, owner, pdfFile, send, service, traces } from './service.ts'

const files = filesOnDisk(service.filesDir, openVault(ENCRYPTION_KEY))
const tenant = { ownerId: owner.ownerId, mode: 'test' }

/** The sweep, two hours after the files were written. */
async function sweepLater(): Promise<void> {
  const longAgo = new Date(Date.parse('2020-01-01'))
  for (const path of lyingFiles()) utimesSync(path, longAgo, longAgo)
  await sweepNow()
}

async function sweepNow(): Promise<void> {
  const database = openDatabase(service.databaseUrl, 2)
  await sweepFiles(database, files).finally(() => database.close())
}

const file = (title: string, seed: number) => send(form({ title, paper: pdfFile(900, 'a.pdf', seed) }))
const remove = (id: string) => service.http('DELETE', `/papers/${id}`, { token: owner.key })
const lies = (sha256: string): boolean => lyingFiles().some(path => basename(path) === sha256)

describe('the sweep of files', () => {
  test('leaves what records use, and what is new', async () => {
    const { body } = await file('A bill', 11)
    const { sha256 } = await files.put(tenant, aPdf(100, 12))
    await sweepNow()
    expect([lies(body.sha256), lies(sha256)]).toEqual([true, true])
    await sweepLater()
    expect([lies(body.sha256), lies(sha256)]).toEqual([true, false])
    expect((await service.http('GET', `/papers/${body.id}`, { token: owner.key })).status).toBe(200)
  })

  test('erases what was kept by a request that was then undone: no row is without a file, no file without a row', async () => {
    const before = await traces()
    expect((await file('defect', 13)).status).toBe(500)
    expect(await traces()).toEqual({ rows: before.rows, files: before.files + 1 })
    await sweepLater()
    expect((await traces()).files).toBeLessThanOrEqual(before.files)
  })

  test('erases a file once its last record is deleted', async () => {
    const [one, two] = [(await file('One', 14)).body, (await file('Two', 14)).body]
    await remove(one.id)
    await sweepLater()
    expect(lies(one.sha256)).toBe(true)
    await remove(two.id)
    await sweepLater()
    expect(lies(one.sha256)).toBe(false)
  })

  test('removes what a crash has left without a name', async () => {
    const staged = await files.stage(tenant, { sha256: 'a'.repeat(64), bytes: aPdf(100) })
    await sweepNow()
    expect(lyingFiles().some(path => path.includes('.staged'))).toBe(true)
    await sweepLater()
    expect(lyingFiles().some(path => path.includes('.staged'))).toBe(false)
    await staged.drop()
  })

  test('does not erase a file that a request is keeping', async () => {
    const { sha256 } = await files.put(tenant, aPdf(100, 15))
    const client = new pg.Client({ connectionString: service.databaseUrl })
    await client.connect()
    await client.query('begin')
    const name = ['file', owner.ownerId, 'test', sha256].join('|')
    await client.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name])
    await sweepLater()
    expect(lies(sha256)).toBe(true)
    await client.end()
    await sweepLater()
    expect(lies(sha256)).toBe(false)
  })
})

test('a file on the disk of the service shows nothing of its content', async () => {
  const { body } = await file('A bill', 16)
  const path = lyingFiles().find(one => basename(one) === body.sha256)
  expect(readFileSync(String(path)).includes('%PDF')).toBe(false)
})
