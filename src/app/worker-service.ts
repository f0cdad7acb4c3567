import { Client } from '@temporalio/client'
import { NativeConnection } from '@temporalio/worker'
import { installRuntime } from '../platform/temporal/runtime.ts'
import type { OpenRuntime, Part } from './runtime.ts'
import { keepSchedules } from './schedules.ts'
import { type TemporalAccess, untilConnected } from './temporal-access.ts'
import { startWorker } from './temporal-worker.ts'

/** Starts a worker. In a file of its own, as the worker's SDK is large and a relay needs none of it. */
export function startWork(runtime: OpenRuntime, access: TemporalAccess): Part {
  installRuntime(runtime.log)
  return untilConnected(runtime, 'worker', async stopping => {
    const connection = await NativeConnection.connect(access.worker)
    try {
      await keepSchedules(new Client({ connection, namespace: access.namespace }), access.taskQueue)
      const worker = await startWorker(runtime, connection, { ...access, stopping })
      const ended = worker.ended.finally(() => connection.close())
      return { ended, stop: worker.stop }
    } catch (error) {
      await connection.close()
      throw error
    }
  })
}
