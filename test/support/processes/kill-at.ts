import pg from 'pg'
import { ENCRYPTION_KEY, type TestService } from '../harness.ts'
import { until } from '../until.ts'
import { startApi } from './processes.ts'

/** Waiters for the lock in this database: other test files share the server. */
const WAITING = `from pg_locks where locktype = 'advisory' and objid = 17 and not granted
and database = (select oid from pg_database where datname = current_database())`

/** Kills a process when it is about to write this during the work: the event and condition of a trigger. */
export async function killAt(
  service: Pick<TestService, 'databaseUrl' | 'sql'>,
  when: string,
  work: (url: string) => Promise<unknown>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const locker = new pg.Client({ connectionString: service.databaseUrl })
  await locker.connect()
  await locker.query('select pg_advisory_lock(17)')
  await service.sql(`
    create function wait_for_the_kill() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock(17); return new; end $$;
    create trigger wait_for_the_kill ${when} execute function wait_for_the_kill()`)
  const api = await startApi(service.databaseUrl, { ENCRYPTION_KEY, ...env })
  const answer = work(api.url).then(
    () => 'answered',
    () => 'lost',
  )
  await until('it is about to write', async () => (await service.sql(`select ${WAITING}`)).length > 0)
  api.kill('SIGKILL')
  await api.exit
  await answer
  // The commit may have been sent already: PostgreSQL would execute it although no client waits for the
  // answer.
  await service.sql(`select pg_terminate_backend(pid) ${WAITING}`)
  await locker.end()
  await service.sql('drop function wait_for_the_kill cascade')
}
