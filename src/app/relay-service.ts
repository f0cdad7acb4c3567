import { setTimeout as pause } from 'node:timers/promises'
import { Client, Connection, type ConnectionOptions } from '@temporalio/client'
import type { NativeConnectionOptions } from '@temporalio/worker'
import { Relay } from '../kernel/background/relay.ts'
import { listen } from '../platform/listener.ts'
import { temporalStarter } from '../platform/temporal/starter.ts'
import { clock } from '../values/clock.ts'
import { startMending } from './missing-runs.ts'
import { keepLease } from './renewed-lease.ts'
import type { OpenHouse, Part } from './runtime.ts'

/** Where Temporal is and how one is let in. */
export interface TemporalAccess {
  readonly namespace: string
  readonly taskQueue: string
  readonly client: ConnectionOptions
  readonly worker: NativeConnectionOptions
}

const RECONNECT_AFTER = 2_000

/** Brings the outbox to Temporal. */
export function startRelay(house: OpenHouse, access: TemporalAccess): Part {
  house.watchTemporal(async () => false)
  return untilConnected(house, 'relay', async () => {
    const connection = await Connection.connect(access.client)
    const client = new Client({ connection, namespace: access.namespace })
    house.watchTemporal(() => isServing(connection))
    const { database, log } = house
    const onFailure = (error: unknown) => log.warn({ err: error }, 'Temporal took no work')
    const kept = keepLease(database, 'outbox', { wake: () => relay.wake(), onFailure })
    const deliver = temporalStarter(client, access.taskQueue)
    const relay = new Relay({ database, lease: kept.lease, deliver, onFailure })
    const listener = listen(house.settings.databaseUrl, 'outbox', relay.wake)
    const mending = startMending(house, client, access.taskQueue)
    return {
      async stop() {
        await mending.stop()
        await listener.stop()
        await relay.stop()
        await kept.end()
        await connection.close()
      },
    }
  })
}

const isServing = (connection: Connection): Promise<boolean> =>
  connection
    .withDeadline(clock.milliseconds() + 1_000, () => connection.workflowService.getSystemInfo({}))
    .then(
      () => true,
      () => false,
    )

interface Connected extends Part {
  /** Where it may end by itself; rejects where it could not go on. */
  readonly ended?: Promise<void>
}

/** A server that is not there, or not any more, is waited for: what it is to do waits in the outbox. */
export function untilConnected({ log }: OpenHouse, what: string, connect: () => Promise<Connected>): Part {
  const stopping = new AbortController()
  let connected: Promise<Connected | undefined> = Promise.resolve(undefined)
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const connecting = connect()
        connected = connecting.catch(() => undefined)
        return await (await connecting).ended
      } catch (error) {
        log.warn({ err: error }, `${what}: Temporal cannot be reached`)
        connected = Promise.resolve(undefined)
        await pause(RECONNECT_AFTER, undefined, { signal: stopping.signal, ref: false }).catch(
          () => undefined,
        )
      }
    }
  }
  const running = run()
  return {
    async stop() {
      stopping.abort()
      await (await connected)?.stop()
      await running
    },
  }
}
