import { setTimeout as pause } from 'node:timers/promises'
import type { ConnectionOptions } from '@temporalio/client'
import type { NativeConnectionOptions } from '@temporalio/worker'
import { InvalidSettingError, type Settings } from '../platform/settings/settings.ts'
import { temporalConnection } from '../platform/temporal/connection.ts'
import type { OpenRuntime, Stoppable } from './runtime.ts'

export interface TemporalAccess {
  readonly namespace: string
  readonly taskQueue: string
  readonly client: ConnectionOptions
  readonly worker: NativeConnectionOptions
}

const RECONNECT_AFTER = 2_000

export function temporalAccess(settings: Settings, address: string): TemporalAccess {
  const connection = temporalConnection(settings, address)
  return {
    namespace: settings.temporalNamespace,
    taskQueue: settings.temporalTaskQueue,
    client: connection,
    worker: connection,
  }
}

/** For processes that share a server, which must be configured. */
export function requireTemporal(settings: Settings): TemporalAccess {
  if (!settings.temporalAddress) throw new InvalidSettingError('Not set: TEMPORAL_ADDRESS.')
  return temporalAccess(settings, settings.temporalAddress)
}

interface Connected extends Stoppable {
  readonly ended?: Promise<void>
}

/**
 * Connects, and reconnects whenever the server is unreachable; its work waits in the outbox meanwhile. The
 * signal of `connect` is aborted when the part is stopped, so work that has not begun by then never begins.
 * Stopping does not wait for it, as loading and connecting may take longer than a shutdown.
 */
export function keepTemporalConnected(
  { log }: Pick<OpenRuntime, 'log'>,
  what: string,
  connect: (stopping: AbortSignal) => Promise<Connected>,
): Stoppable {
  const stopping = new AbortController()
  let connected: Connected | undefined
  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        connected = await connect(stopping.signal)
        if (stopping.signal.aborted) return await connected.stop()
        return await connected.ended
      } catch (error) {
        if (stopping.signal.aborted && connected === undefined) return
        log.warn({ err: error }, `${what}: Temporal cannot be reached`)
        connected = undefined
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
      if (!connected) return
      await connected.stop()
      await running
    },
  }
}
