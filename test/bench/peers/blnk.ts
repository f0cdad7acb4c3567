import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lastingPort } from '../../support/processes/lasting-port.ts'
import { WALLETS } from '../cases/transfer-cases.ts'
import { outputOf } from '../child.ts'
import { answering } from './answering.ts'
import type { Peer, Place } from './compare.ts'
import { absenceOf, namedProgram, nameOf } from './named-program.ts'
import { openDatabase } from './own-database.ts'
import { openRedis, redisAbsence } from './redis.ts'
import { forEachAccount, startIn } from './started.ts'

const VARIABLE = 'PEER_BLNK'
const BANK = '@bank'
const KEY = 'key-of-the-bench'
const HEADERS = { 'X-Blnk-Key': KEY }

const booking = (from: string, to: string) => ({
  amount: 0.01,
  precision: 100,
  currency: 'EUR',
  reference: '{each}',
  description: 'Bench',
  source: from,
  destination: to,
  skip_queue: true,
})

/** Server and workers with Redis, as its compose file runs them. `skip_queue` books before it answers, as we do. */
export const blnk: Peer = {
  name: nameOf('Blnk', VARIABLE),
  absence: () => absenceOf(VARIABLE) ?? redisAbsence(),
  async open(place) {
    const database = await openDatabase(place)
    const redis = await openRedis(place, [])
    const port = await lastingPort()
    await configure(place, { database: database.url, redis: redis.port, port })
    const program = { command: [namedProgram(VARIABLE), 'start'], env: {} }
    const server = await startIn(place, 'blnk', program, `http://127.0.0.1:${port}/health`)
    const workers = await startIn(place, 'workers', {
      ...program,
      command: [namedProgram(VARIABLE), 'workers'],
    })
    const path = '/transactions'
    const fund = { ...booking(BANK, '@{n}'), amount: 1_000_000, allow_overdraft: true }
    await forEachAccount({ url: server.url, path, headers: HEADERS, body: fund }, WALLETS)
    const transfer = {
      name: 'Blnk',
      title: 'Blnk',
      server,
      request: () => ({
        method: 'POST' as const,
        path,
        token: '',
        headers: HEADERS,
        body: booking('@{n}', '@{other}'),
        numbers: { from: 1, to: WALLETS, others: WALLETS },
        expects: '"APPLIED"',
      }),
    }
    return answering(transfer, () => database.seconds() + redis.cpuSeconds() + workers.cpuSeconds())
  },
}

async function configure(
  { folder }: Place,
  { database, redis, port }: { database: string; redis: number; port: number },
): Promise<void> {
  const settings = {
    project_name: 'Blnk',
    data_source: { dns: database },
    redis: { dns: `127.0.0.1:${redis}` },
    server: { port: String(port), secure: true, secret_key: KEY },
    queue: { monitoring_port: String(await lastingPort()) },
  }
  writeFileSync(join(folder, 'blnk.json'), JSON.stringify(settings))
  await outputOf('sh', ['-c', 'cd "$0" && "$1" migrate up', folder, namedProgram(VARIABLE)])
}
