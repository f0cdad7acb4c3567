import pg from 'pg'
import { sqlFunctions } from '../migrations/functions.ts'
import {
  type AppliedMigration,
  type BaselineStamp,
  checksumOfMigrations,
  type Migration,
  type ReleasedVersion,
  type SchemaHistory,
  schemaHistory,
} from '../migrations/index.ts'

/** The advisory lock that serializes migrations: any number that no other lock uses. */
const MIGRATION_LOCK = 7_340_921

const AFTER_FUNCTIONS = `
select add_event_partitions();
select continue_journal();
select expect_statistics(oid) from pg_class
where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace`

const MIN_VERSION = 18

export function requirePostgresVersion(version: string): void {
  if (Number.parseInt(version, 10) < MIN_VERSION)
    throw new Error(`DATABASE_URL points to PostgreSQL ${version}; it must be ${MIN_VERSION} or later.`)
}

async function requirePostgres(client: pg.Client): Promise<void> {
  const { rows } = await client.query('show server_version')
  requirePostgresVersion(rows[0].server_version)
}

/**
 * The version of the runs in Temporal, which the database keeps (`run_takeovers`). Raise it where the workflows of this
 * version cannot go on with runs of before: `migrate` ends those, and the relay begins them anew from their records.
 */
const RUNS = 1

/**
 * Whether the records may have runs that this version cannot go on with. What `migrate` refuses is refused here as well:
 * its runs go on.
 */
export async function hasOlderRuns(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    const { rows } = await client.query(`select
      to_regclass('migration_checksums') is not null or to_regclass('mikro_orm_migrations') is not null as "isUsed",
      to_regclass('run_takeovers') is not null as "isKept"`)
    const [{ isUsed, isKept }] = rows
    if (!isUsed || (isKept && (await runsIn(client)) >= RUNS)) return false
    await requirePostgres(client)
    await checkHistory(client, schemaHistory())
    await refuseRunning(client)
    return true
  } finally {
    await client.end()
  }
}

/**
 * A process at work holds a lease, and an idle one only sessions. These are known where `migrate` has a login of its own;
 * those of a superuser belong to no program.
 */
const RUNNING = `
select (
  select ceil(extract(epoch from max(held_until) - clock_timestamp()))::int
  from process_leases where held_until > clock_timestamp()
) as "leaseSeconds", (
  select string_agg(distinct a.usename::text, ' and ')
  from pg_stat_activity a join pg_roles r on r.oid = a.usesysid
  where a.datname = current_database() and a.usename <> current_user and not r.rolsuper
    and pg_has_role(r.oid, to_regrole('agentpay_application'), 'member')
) as logins`

/** A program of the version before would begin runs of its own again, and they would never be ended. */
async function refuseRunning(client: pg.Client): Promise<void> {
  const { rows } = await client.query('select to_regclass($1) is not null as exists', ['process_leases'])
  if (!rows[0].exists) return
  const [{ leaseSeconds, logins }] = (await client.query(RUNNING)).rows
  if (leaseSeconds)
    throw new Error(
      `Programs are at work on this database: they hold leases (process_leases). ${STOP_ALL} If they were killed, wait ${leaseSeconds} seconds.`,
    )
  if (logins)
    throw new Error(`Programs are connected to this database, as ${logins} (pg_stat_activity). ${STOP_ALL}`)
}

const STOP_ALL =
  'Nothing was changed. Stop all of them: API processes, workers and relays. Then run this again.'

const runsIn = async (client: pg.Client): Promise<number> =>
  (await client.query('select coalesce(max(version), 0) as version from run_takeovers')).rows[0].version

export async function migrateDatabase(url: string): Promise<void> {
  const guard = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await guard.connect()
  try {
    await guard.query('select pg_advisory_lock($1)', [MIGRATION_LOCK])
    await requirePostgres(guard)
    await updateSchema(guard, schemaHistory())
    await guard.query(AFTER_FUNCTIONS)
    await guard.query('insert into run_takeovers (version) values ($1) on conflict do nothing', [RUNS])
  } finally {
    await guard.end()
  }
}

/** Runs migrations and functions in one transaction: if one fails, the schema stays as it was. */
export async function updateSchema(client: pg.Client, history: SchemaHistory): Promise<void> {
  const { migrations } = history
  await client.query('begin')
  try {
    const stamp = await checkHistory(client, history)
    if (stamp) await carryOut(client, stamp, migrations)
    const applied = await appliedIn(client)
    for (const migration of migrations.filter(({ name }) => !applied.some(one => one.name === name))) {
      await client.query(migration.text)
      await note(client, migration)
    }
    await applyFunctions(client, migrations)
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => undefined)
    throw error
  }
}

/** The stamp by which the database is taken over. One that cannot be taken over is refused. */
async function checkHistory(client: pg.Client, history: SchemaHistory): Promise<BaselineStamp | undefined> {
  const applied = await appliedIn(client)
  const stamp = stampOf(applied, history.stamps)
  if (stamp) return stamp
  refuseOlder(await isBeforeBaseline(client), applied, history)
  refuseEdited(applied, history.migrations)
  return undefined
}

/** Empty for an empty database and for versions that kept no checksums. */
async function appliedIn(client: pg.Client): Promise<AppliedMigration[]> {
  const { rows } = await client.query(`select to_regclass('migration_checksums') is not null as exists`)
  if (!rows[0].exists) return []
  return (await client.query('select name, checksum from migration_checksums order by name')).rows
}

const stampOf = (
  applied: readonly AppliedMigration[],
  known: readonly BaselineStamp[],
): BaselineStamp | undefined => known.find(stamp => stamp.applied === checksumOfMigrations(applied))

const note = (client: pg.Client, { name, checksum }: AppliedMigration) =>
  client.query('insert into migration_checksums (name, checksum) values ($1, $2)', [name, checksum])

async function carryOut(
  client: pg.Client,
  stamp: BaselineStamp,
  [baseline]: readonly Migration[],
): Promise<void> {
  for (const statement of stamp.statements) await client.query(statement)
  await client.query('delete from migration_checksums')
  if (baseline) await note(client, baseline)
}

async function isBeforeBaseline(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`select to_regclass('mikro_orm_migrations') is not null as is`)
  return rows[0].is
}

/** Databases are taken over from the schemas with a stamp, and from every one since the baseline. */
function refuseOlder(
  isBeforeBaseline: boolean,
  applied: readonly AppliedMigration[],
  { migrations, stamps, released }: SchemaHistory,
): void {
  const isOf = (version: ReleasedVersion) =>
    Object.entries(version.migrations).every(([name, checksum]) =>
      applied.some(one => one.name === name && one.checksum === checksum),
    )
  // A database with this baseline may have further migrations of a later version, which are no reason to
  // refuse.
  const isOurs = applied.some(({ checksum }) => checksum === migrations[0]?.checksum)
  const [made, version] = isOurs ? [] : (Object.entries(released).findLast(([, one]) => isOf(one)) ?? [])
  if (!isBeforeBaseline && !made) return
  const isReleased = version && Object.keys(version.migrations).length === applied.length
  const takesOver = [...new Set(stamps.map(({ of }) => of))].join(' or ')
  throw new Error(
    `This database was made by ${isReleased ? `version ${made}` : `a commit before the last one of version ${takesOver}`}, and this version takes over data of ${takesOver} only. Nothing was changed. Start the last commit of version ${takesOver} with it once, and then this one. Or begin with an empty database: npm run reset deletes all data.`,
  )
}

/** An applied migration never runs again, so an edit of it would be missing from this database for ever. */
function refuseEdited(applied: readonly AppliedMigration[], migrations: readonly Migration[]): void {
  const edited = migrations.find(({ name, checksum }) =>
    applied.some(one => one.name === name && one.checksum !== checksum),
  )
  if (edited)
    throw new Error(
      `src/migrations/${edited.name} was edited after this database had run it. Restore it, and put the change into a new migration. (One that belongs to no released version may be edited: npm run reset begins with an empty database.)`,
    )
}

const IN_FORCE = `
select distinct on (name) name, checksum from applied_functions
where name in (select proname from pg_proc where pronamespace = current_schema()::regnamespace)
order by name, id desc`

/** Redefines functions whose files have changed. A version older than the schema changes none. */
async function applyFunctions(client: pg.Client, migrations: readonly Migration[]): Promise<void> {
  if (await isNewerThan(client, migrations.at(-1)?.name ?? '')) return
  const { rows } = await client.query<AppliedMigration>(IN_FORCE)
  const inForce = new Map(rows.map(({ name, checksum }) => [name, checksum]))
  const changed = sqlFunctions().filter(({ name, checksum }) => inForce.get(name) !== checksum)
  if (changed.length === 0) return
  await client.query(changed.map(({ text }) => text).join('\n'))
  const applied = changed.map(({ name, checksum }) => ({ name, checksum }))
  await client.query(
    `insert into applied_functions (name, checksum)
    select name, checksum from json_to_recordset($1) as r (name text, checksum text)`,
    [JSON.stringify(applied)],
  )
}

async function isNewerThan(client: pg.Client, name: string): Promise<boolean> {
  const { rows } = await client.query('select max(name collate "C") as newest from migration_checksums')
  return rows[0].newest > name
}
