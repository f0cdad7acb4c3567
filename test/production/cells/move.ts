import { startStandbyServer } from '../../support/processes/standby.ts'
import { queryValues, withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { type Cell, type Place, startPrograms } from './cell.ts'

export interface Moved {
  readonly cell: Cell
  /** From the stop of the old API to the first connection that the new one accepts. */
  readonly awayMs: number
}

const SYNCHRONOUS = `select count(*)::int from pg_stat_replication where sync_state = 'sync'`

/** Moves a cell to programs and a PostgreSQL of their own, in the steps of docs/how-to/scale.md. */
export async function moveCell(from: Cell, port: number, place: Place): Promise<Moved> {
  const { name, database, programs } = from
  const dataDir = place.newFolder(`${name}-moved`)
  const standby = await startStandbyServer(database, dataDir, ['hot_standby=off'])
  place.closeLater(standby.stop)
  const waiting = startPrograms(name, { url: standby.url, port, place })
  await withConnection(database.url, async client => {
    await client.query(`alter system set synchronous_standby_names = '*'`)
    await client.query('select pg_reload_conf()')
  })
  await until('a synchronous standby', async () => (await queryValues(database.url, SYNCHRONOUS))[0])
  await Promise.all([programs.relay.stop(), programs.worker.stop()])
  await withConnection(database.url, client => client.query('checkpoint'))
  const began = performance.now()
  await programs.api.stop()
  await database.stop()
  await standby.promote()
  const cell = { name, database: { url: standby.url, dataDir, stop: standby.stop }, programs: await waiting }
  return { cell, awayMs: performance.now() - began }
}
