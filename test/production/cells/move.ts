import { startStandbyServer } from '../../support/processes/standby.ts'
import { queryValues, withConnection } from '../../support/rows.ts'
import { until } from '../../support/until.ts'
import { type Cell, type Place, startBackground, startCellApi, untilWaiting } from './cell.ts'

export interface Moved {
  readonly cell: Cell
  /** How long the old API and its PostgreSQL took to stop, the new one to be promoted, and the new API to find it: in ms. */
  readonly times: Readonly<Record<'api' | 'database' | 'promotion' | 'start', number>>
}

const SYNCHRONOUS = `select count(*)::int from pg_stat_replication where sync_state = 'sync'`

/** Moves a cell to programs and a PostgreSQL of their own, in the steps of docs/how-to/scale.md. */
export async function moveCell(from: Cell, port: number, place: Place): Promise<Moved> {
  const { name, database, programs } = from
  const dataDir = place.newFolder(`${name}-moved`)
  const standby = await startStandbyServer(database, dataDir, ['hot_standby=off'])
  place.closeLater(standby.stop)
  const at = { url: standby.url, port, place }
  const [api, background] = [startCellApi(name, at), startBackground(name, at)]
  await untilWaiting(name, at)
  await withConnection(database.url, async client => {
    await client.query(`alter system set synchronous_standby_names = '*'`)
    await client.query('select pg_reload_conf()')
  })
  await until('a synchronous standby', async () => (await queryValues(database.url, SYNCHRONOUS))[0])
  await Promise.all([programs.relay.stop(), programs.worker.stop()])
  await withConnection(database.url, client => client.query('checkpoint'))
  const began = performance.now()
  await programs.api.stop()
  const stopped = performance.now()
  await database.stop()
  const ended = performance.now()
  await standby.promote()
  const promoted = performance.now()
  const moved = { api: await api }
  const times = {
    api: stopped - began,
    database: ended - stopped,
    promotion: promoted - ended,
    start: performance.now() - promoted,
  }
  const cell = {
    name,
    database: { url: standby.url, dataDir, stop: standby.stop },
    programs: { ...moved, ...(await background) },
  }
  return { cell, times }
}
