import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { WALLETS } from '../cases/transfer-cases.ts'
import { outputOf, start } from '../child.ts'
import { isShort } from '../short.ts'
import { answering } from './answering.ts'
import type { Peer } from './compare.ts'
import { openDatabase } from './own-database.ts'

const CRATE = 'test/bench/peers/cala/Cargo.toml'
const BUILT = '.data/peers/cala'
/** It makes its accounts before it listens. */
const SETTING_UP_MS = 180_000
const PROGRAM = `${BUILT}/release/cala-transfers`

/** Cala is a library: it is measured in a small HTTP server of ours. */
export const cala: Peer = {
  name: 'Cala 0.33.3',
  absence() {
    if (spawnSync('cargo', ['--version']).status !== 0) return 'cargo is not on the PATH'
    return isShort && !existsSync(PROGRAM) ? 'the short form builds nothing' : null
  },
  async open(place) {
    const where = ['--manifest-path', CRATE, '--target-dir', BUILT]
    await outputOf('cargo', ['build', '--quiet', '--release', '--locked', ...where])
    const database = await openDatabase(place)
    const running = await start(
      {
        command: [PROGRAM],
        log: `${place.folder}/cala.log`,
        env: { DATABASE_URL: database.url, ACCOUNTS: String(WALLETS) },
        patienceMs: SETTING_UP_MS,
      },
      /http:\S+/,
    )
    place.closeLater(running.stop)
    const server = { ...running, url: running.said }
    const transfer = {
      name: 'Cala',
      title: 'Cala',
      server,
      request: () => ({
        method: 'POST' as const,
        path: '/transfers',
        token: '',
        body: { key: '{each}', from: '{n}', to: '{other}', amount: '0.01' },
        numbers: { from: 1, to: WALLETS, others: WALLETS },
      }),
    }
    return answering(transfer, database.seconds)
  },
}
