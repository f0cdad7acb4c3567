import { Client, Connection } from '@temporalio/client'
import { Relay } from '../kernel/background/relay.ts'
import { listen } from '../platform/listener.ts'
import { type Processes, temporalStarter } from '../platform/temporal/starter.ts'
import { clock } from '../values/clock.ts'
import { startMending } from './missing-runs.ts'
import { renewLease } from './renewed-lease.ts'
import type { OpenRuntime, Part } from './runtime.ts'
import { type TemporalAccess, untilConnected } from './temporal-access.ts'

/** Starts the relay, which brings the outbox to Temporal. */
export function startRelay(runtime: OpenRuntime, access: TemporalAccess): Part {
  runtime.watchTemporal(async () => false)
  return untilConnected(runtime, 'relay', async stopping => {
    const connection = await Connection.connect(access.client)
    if (stopping.aborted) return { stop: () => connection.close() }
    const client = new Client({ connection, namespace: access.namespace })
    runtime.watchTemporal(() => isServing(connection))
    const { database, log } = runtime
    const onFailure = (error: unknown) => log.warn({ err: error }, 'Temporal took no work')
    const renewed = renewLease(database, 'outbox', { wake: () => relay.wake(), onFailure })
    const deliver = temporalStarter(client, access.taskQueue, processesOf(runtime.areas))
    const relay = new Relay({ database, lease: renewed.lease, deliver, onFailure })
    const listener = listen(runtime.settings.databaseUrl, 'outbox', relay.wake)
    const mending = startMending(runtime, client, access.taskQueue)
    return {
      async stop() {
        await mending.stop()
        await listener.stop()
        await relay.stop()
        await renewed.end()
        await connection.close()
      },
    }
  })
}

const processesOf = (areas: OpenRuntime['areas']): Processes =>
  new Map(
    Object.values(areas).flatMap(({ openRecords }) =>
      openRecords.map(({ process }) => [process.name, process] as const),
    ),
  )

const isServing = (connection: Connection): Promise<boolean> =>
  connection
    .withDeadline(clock.milliseconds() + 1_000, () => connection.workflowService.getSystemInfo({}))
    .then(
      () => true,
      () => false,
    )
