import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client, Connection } from '@temporalio/client'
import { processesIn } from '../../src/dev/processes/process-table.ts'
import { findTemporal } from '../../src/dev/temporal/binary.ts'
import { temporalPaths } from '../../src/dev/temporal/data.ts'
import { startTemporal } from '../../src/dev/temporal/server.ts'
import { printLine } from '../../src/platform/output.ts'
import { memoryOf, node, type Running, start } from './child.ts'
import type { Section } from './report.ts'
import { onStage, type Stage } from './stage.ts'

export interface Engine {
  readonly address: string
  readonly client: Client
  run(program: 'relay' | 'worker', more?: Readonly<Record<string, string>>): Promise<Running>
  memoryMegabytes(): number
  /** What the rows of all its tables and indexes occupy, without the free room in their pages. */
  storeBytes(): number
}

/** A stage with a durable Temporal server; reports why if there is no binary. */
export const withEngine = (
  home: string,
  name: string,
  work: (stage: Stage, engine: Engine) => Promise<Section>,
): Promise<Section> =>
  onStage(home, name, async stage => {
    const search = await findTemporal({ env: process.env, tell: printLine })
    if (search.binary === null) return { figures: {}, text: `${name}: left out. ${search.reason}` }
    return work(stage, await open(stage, search.binary))
  })

async function open({ folder, env, closeLater }: Stage, binary: string): Promise<Engine> {
  const server = await startTemporal({ binary, dataDir: folder, ports: { grpc: 0, ui: 0 } })
  closeLater(() => server.stop())
  const { address } = server
  const connection = await Connection.connect({ address })
  closeLater(() => connection.close())
  return {
    address,
    client: new Client({ connection }),
    async run(program, more = {}) {
      const command = node(`src/bin/${program}.ts`)
      const log = join(folder, `${program}.log`)
      const running = await start(
        { command, log, env: { ...env, ...more, TEMPORAL_ADDRESS: address } },
        /is running\./,
      )
      closeLater(running.stop)
      return running
    },
    // The server is the larger one of its two processes; the other is its guard.
    memoryMegabytes: () => Math.max(...processesIn(folder, 'start-dev').map(memoryOf)),
    storeBytes: () => usedBytes(join(folder, temporalPaths(folder).data)),
  }
}

const USED = 'select sum(pgsize - unused) as used from dbstat where aggregate = true'

function usedBytes(file: string): number {
  const database = new DatabaseSync(file, { readOnly: true })
  try {
    return Number(database.prepare(USED).get()?.used)
  } finally {
    database.close()
  }
}
