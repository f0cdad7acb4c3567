import { lastingPort } from '../../support/processes/lasting-port.ts'
import { WALLETS } from '../cases/transfer-cases.ts'
import { answering } from './answering.ts'
import type { Peer } from './compare.ts'
import { absenceOf, namedProgram, nameOf } from './named-program.ts'
import { openDatabase } from './own-database.ts'
import { forEachAccount, startIn } from './started.ts'

const VARIABLE = 'PEER_FORMANCE'
const LEDGER = '/v2/bench'

const posting = (source: string, destination: string, amount: number) => ({
  reference: '{each}',
  postings: [{ source, destination, amount, asset: 'EUR/2' }],
})

/** Server and worker, as its compose file runs them. */
export const formance: Peer = {
  name: nameOf('Formance Ledger', VARIABLE),
  absence: () => absenceOf(VARIABLE),
  async open(place) {
    const database = await openDatabase(place)
    const env = {
      POSTGRES_URI: database.url,
      POSTGRES_MAX_OPEN_CONNS: '40',
      POSTGRES_MAX_IDLE_CONNS: '40',
      POSTGRES_CONN_MAX_IDLE_TIME: '5m',
      AUTO_UPGRADE: 'true',
    }
    const [own, grpc] = [`127.0.0.1:${await lastingPort()}`, `127.0.0.1:${await lastingPort()}`]
    const program = namedProgram(VARIABLE)
    const serve = [program, 'serve', '--bind', own, '--worker-grpc-address', grpc]
    const server = await startIn(place, 'ledger', { command: serve, env }, `http://${own}/_healthcheck`)
    const work = [program, 'worker', '--worker-grpc-address', grpc]
    const worker = await startIn(place, 'worker', { command: work, env })
    await fetch(server.url + LEDGER, { method: 'POST' })
    const path = `${LEDGER}/transactions`
    await forEachAccount({ url: server.url, path, body: posting('world', 'users:{n}', 100_000_000) }, WALLETS)
    const transfer = {
      name: 'Formance',
      title: 'Formance',
      server,
      request: () => ({
        method: 'POST' as const,
        path,
        token: '',
        keys: true,
        body: posting('users:{n}', 'users:{other}', 1),
        numbers: { from: 1, to: WALLETS, others: WALLETS },
      }),
    }
    return answering(transfer, () => database.seconds() + worker.cpuSeconds())
  },
}
