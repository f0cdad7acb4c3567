import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection, type ConnectionOptions } from '@temporalio/client'
import { NativeConnection, type NativeConnectionOptions } from '@temporalio/worker'
import { clock } from '../kernel/clock.ts'
import { endOverdue } from '../kernel/deadlines.ts'
import { type Relay, relay } from '../kernel/relay.ts'
import { listen } from '../platform/listener.ts'
import { everySoOften } from '../platform/rounds.ts'
import { temporalStarter } from '../platform/temporal-starter.ts'
import type { OpenHouse } from './house.ts'
import { type RunningWorker, startWorker } from './worker-service.ts'

/** Where Temporal is and how one is let in. */
export interface TemporalAccess {
  readonly namespace: string
  readonly taskQueue: string
  readonly client: ConnectionOptions
  readonly worker: NativeConnectionOptions
}

export interface Part {
  stop(): Promise<void>
}

const SWEEP_EVERY = 2_000
const RECONNECT_AFTER = 2_000

/** Ends what is overdue, with Temporal or without it. */
export const startDeadlines = (house: OpenHouse): Part =>
  everySoOften(
    SWEEP_EVERY,
    () => endOverdue(house),
    error => house.log.warn({ err: error }, 'ending what is overdue failed'),
  )

/** Brings the outbox to Temporal. */
export const startRelay = (house: OpenHouse, access: TemporalAccess): Part =>
  untilConnected(house, 'relay', async () => {
    const connection = await Connection.connect(access.client)
    const client = new Client({ connection, namespace: access.namespace })
    house.watchTemporal(() => isServing(connection))
    const running: Relay = relay(house.database, temporalStarter(client, access.taskQueue), error =>
      house.log.warn({ err: error }, 'Temporal took no work'),
    )
    const listener = listen(house.settings.databaseUrl, 'outbox', running.wake)
    return {
      async stop() {
        await listener.stop()
        await running.stop()
        await connection.close()
      },
    }
  })

/** Carries out the durable processes. */
export const startWork = (house: OpenHouse, access: TemporalAccess): Part =>
  untilConnected(house, 'worker', async () => {
    const connection = await NativeConnection.connect(access.worker)
    const worker: RunningWorker = await startWorker(house, connection, access)
    return {
      async stop() {
        await worker.stop()
        await connection.close()
      },
    }
  })

const isServing = (connection: Connection): Promise<boolean> =>
  connection
    .withDeadline(clock.milliseconds() + 1_000, () => connection.workflowService.getSystemInfo({}))
    .then(
      () => true,
      () => false,
    )

/** A server that is not there yet is waited for: what it is to do waits in the outbox. */
function untilConnected({ log }: OpenHouse, what: string, connect: () => Promise<Part>): Part {
  const stopping = new AbortController()
  async function begin(): Promise<Part | undefined> {
    while (!stopping.signal.aborted) {
      try {
        return await connect()
      } catch (error) {
        log.warn({ err: error }, `${what}: Temporal cannot be reached`)
        await pause(RECONNECT_AFTER, undefined, { signal: stopping.signal, ref: false }).catch(
          () => undefined,
        )
      }
    }
    return undefined
  }
  const begun = begin()
  return {
    async stop() {
      stopping.abort()
      await (await begun)?.stop()
    },
  }
}
