import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from '@jest/globals'
import pg from 'pg'
import { startPostgres } from '../../src/dev/postgres/embedded-postgres.ts'
import { beforeRemoval, temporaryFolder } from '../support/processes/folders.ts'
import { clusterOf, copyCluster } from '../support/processes/standby.ts'
import { until } from '../support/until.ts'

const [before, after] = [temporaryFolder(), temporaryFolder()]
const closers: (() => unknown)[] = []
beforeRemoval(async () => {
  for (const close of closers.toReversed()) await close()
})

async function open(dataDir: string) {
  const server = await startPostgres({ dataDir, port: 0 })
  closers.push(() => server.stop())
  const client = new pg.Client({ connectionString: server.url })
  client.on('error', () => undefined)
  await client.connect()
  closers.push(() => client.end())
  return { server, sql: async (text: string) => (await client.query(text)).rows }
}

test('a base backup and the archive of docs/how-to/backup.md bring back the instant before an accident', async () => {
  const script = resolve('postgres-config/archive-wal.sh')
  expect(readFileSync('docs/how-to/backup.md', 'utf8')).toContain(
    'sh /usr/local/bin/archive-wal.sh %p %f /backup/wal',
  )
  const first = await open(before)
  const archive = join(clusterOf(before), 'wal')
  const { uid, gid } = statSync(clusterOf(before))
  mkdirSync(archive)
  chownSync(archive, uid, gid)
  const copied = join(archive, '..', 'archive-wal.sh')
  cpSync(script, copied)
  chownSync(copied, uid, gid)
  await first.sql(`alter system set archive_mode = on`)
  await first.sql(`alter system set archive_command = 'sh ${copied} %p %f ${archive}'`)
  await first.server.stop()

  const { server, sql } = await open(before)
  await sql('create table payments (id int)')
  await sql('insert into payments values (1)')
  // Creates the folder and the user of the second cluster; the copy replaces its content.
  const place = await open(after)
  await place.server.stop()
  await sql(`select pg_backup_start('daily', true)`)
  const data = copyCluster(before, after)
  const [label] = await sql('select labelfile from pg_backup_stop(false)')
  await sql('insert into payments values (2)')
  const [{ at }] = (await sql('select clock_timestamp()::text as at')) as [{ at: string }]
  await sql('drop table payments')
  const [{ wal }] = (await sql('select pg_walfile_name(pg_switch_wal()) as wal')) as [{ wal: string }]
  await until('the last file in the archive', () => existsSync(join(archive, wal)))
  await server.stop()

  writeFileSync(join(data, 'backup_label'), label?.labelfile)
  writeFileSync(join(data, 'recovery.signal'), '')
  const settings = [
    `restore_command = 'cp ${archive}/%f %p'`,
    `recovery_target_time = '${at}'`,
    `recovery_target_action = 'promote'`,
    'archive_mode = off',
  ]
  writeFileSync(join(data, 'postgresql.auto.conf'), settings.join('\n'))
  for (const name of ['backup_label', 'recovery.signal', 'postgresql.auto.conf'])
    chownSync(join(data, name), uid, gid)
  const restored = await open(after)
  expect(await restored.sql('select id from payments order by id')).toEqual([{ id: 1 }, { id: 2 }])
  await until('the end of the recovery', async () => {
    const [row] = await restored.sql('select pg_is_in_recovery() as waits')
    return row?.waits === false
  })
}, 120_000)
