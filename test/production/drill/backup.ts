import { execFile } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { cp } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { postgresPaths } from '../../../src/dev/postgres/paths.ts'
import { giveOwnership } from '../../../src/dev/processes/unprivileged-user.ts'
import { until } from '../../support/until.ts'
import type { Installation, Sql } from './installation.ts'
import type { PostgresProgram } from './postgres-programs.ts'
import type { Report } from './report.ts'

const run = promisify(execFile)

/** As in docs/how-to/backup.md, but for a minute: the drill waits for the last file. */
const ARCHIVE_TIMEOUT = '5s'

const clusterOf = (dataDir: string): string => realpathSync(join(dataDir, 'postgres', 'data'))
const walIn = (backupDir: string): string => join(backupDir, 'wal')
const baseFolder = (backupDir: string): string => join(backupDir, 'base')
const baseIn = (backupDir: string): string => join(baseFolder(backupDir), 'base.tar')

/** Sets up what docs/how-to/backup.md says, and restarts PostgreSQL. */
export async function archiveWal(place: Installation): Promise<void> {
  const { dataDir, backupDir, sql } = place
  const { uid, gid } = statSync(clusterOf(dataDir))
  const script = join(backupDir, 'archive-wal.sh')
  copyFileSync('postgres-config/archive-wal.sh', script)
  mkdirSync(walIn(backupDir))
  for (const path of [script, walIn(backupDir)]) chownSync(path, uid, gid)
  await sql(`alter system set archive_mode = on`)
  await sql(`alter system set archive_timeout = '${ARCHIVE_TIMEOUT}'`)
  await sql(`alter system set archive_command = 'sh ${script} %p %f ${walIn(backupDir)}'`)
  await place.stopPostgres()
  await place.startPostgres()
}

/** Takes a base backup of the running cluster, and returns the way. */
export async function takeBaseBackup(
  { dataDir, backupDir, databaseUrl }: Installation,
  program: PostgresProgram | undefined,
): Promise<string> {
  mkdirSync(baseFolder(backupDir))
  copyFileSync(join(dataDir, 'postgres', 'password'), join(backupDir, 'password'))
  if (program) {
    const options = [`--pgdata=${baseFolder(backupDir)}`, '--format=tar', '--checkpoint=fast']
    await program('pg_basebackup', [`--dbname=${databaseUrl}`, ...options])
    return 'pg_basebackup'
  }
  await copyCluster(clusterOf(dataDir), baseIn(backupDir), databaseUrl)
  return 'pg_backup_start'
}

export async function verifyBaseBackup(
  { backupDir }: Installation,
  program: PostgresProgram,
  report: Report,
): Promise<void> {
  const refusal = await program('pg_verifybackup', ['--no-parse-wal', baseFolder(backupDir)]).then(
    () => undefined,
    (error: Error) => error.message,
  )
  report.check('pg_verifybackup accepts the base backup', refusal === undefined, refusal)
}

/** What a base backup does not contain: PostgreSQL makes it anew, or the archive has it. */
const LEFT_OUT = ['./pg_wal/*', './postmaster.pid', './postmaster.opts', './pg_replslot/*', './pg_stat_tmp/*']

/** Does what `pg_basebackup` does, in the steps that PostgreSQL documents, where that program is missing. */
async function copyCluster(data: string, file: string, connectionString: string): Promise<void> {
  // Start and stop belong to one session.
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    await client.query(`select pg_backup_start('drill', true)`)
    await archive(['-cf', file, ...LEFT_OUT.map(path => `--exclude=${path}`), '-C', data, '.'])
    const { rows } = await client.query('select labelfile from pg_backup_stop(false)')
    const label = join(dirname(file), 'backup_label')
    const { uid, gid } = statSync(data)
    writeFileSync(label, rows[0].labelfile)
    chownSync(label, uid, gid)
    await archive(['-rf', file, '-C', dirname(file), 'backup_label'])
  } finally {
    await client.end()
  }
}

/** The status of `tar` if a file changed or vanished while it was read, which a base backup allows. */
const CHANGED = 1

async function archive(args: readonly string[]): Promise<void> {
  await run('tar', args).catch((error: { readonly code?: unknown }) => {
    if (error.code !== CHANGED) throw error
  })
}

export const baseBackupBytes = ({ backupDir }: Installation): number => statSync(baseIn(backupDir)).size

/** Files never change, so a copy takes the new ones. */
export const copyFiles = ({ dataDir, backupDir }: Installation): Promise<void> =>
  cp(join(dataDir, 'files'), join(backupDir, 'files'), { recursive: true })

/** Waits until all that is committed now is in the archive. */
export async function untilArchived({ backupDir, sql }: Installation): Promise<void> {
  const [row] = await sql<{ wal: string }>('select pg_walfile_name(pg_current_wal_lsn()) as wal')
  await until('the last file of the WAL in the archive', () =>
    existsSync(join(walIn(backupDir), String(row?.wal))),
  )
}

/** Puts the base backup into an empty data folder, with the settings of a recovery to this instant. */
export async function restoreBase({ dataDir, backupDir }: Installation, instant: string): Promise<void> {
  const { home, user } = postgresPaths(realpathSync(dataDir))
  const data = join(home, 'data')
  mkdirSync(data, { mode: 0o700 })
  // pg_basebackup names the user postgres in each header, also if another user runs the cluster.
  await run('tar', ['-xpf', baseIn(backupDir), '--numeric-owner', '-C', data])
  mkdirSync(join(data, 'pg_wal'), { recursive: true, mode: 0o700 })
  const settings = [
    `restore_command = 'cp ${walIn(backupDir)}/%f %p'`,
    `recovery_target_time = '${instant}'`,
    `recovery_target_action = 'promote'`,
  ]
  appendFileSync(join(data, 'postgresql.auto.conf'), `${settings.join('\n')}\n`)
  writeFileSync(join(data, 'recovery.signal'), '')
  copyFileSync(join(backupDir, 'password'), join(home, 'password'))
  const owned = [data, join(data, 'pg_wal'), join(data, 'recovery.signal'), join(home, 'password')]
  for (const path of owned) giveOwnership(path, user)
}

const RECOVERY_SETTINGS = ['restore_command', 'recovery_target_time', 'recovery_target_action']

/** Waits for the end of the recovery, and removes its settings. */
export async function untilRecovered({ sql }: { readonly sql: Sql }): Promise<void> {
  await until('the end of the recovery', async () => {
    const [row] = await sql<{ waits: boolean }>('select pg_is_in_recovery() as waits')
    return row?.waits === false
  })
  for (const name of RECOVERY_SETTINGS) await sql(`alter system reset ${name}`)
}

export const restoreFiles = ({ dataDir, backupDir }: Installation): Promise<void> =>
  cp(join(backupDir, 'files'), join(dataDir, 'files'), { recursive: true })
