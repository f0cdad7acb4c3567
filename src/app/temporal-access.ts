import { TASK_QUEUE } from '../kernel/contract/process.ts'
import { type Settings, WrongSetting } from '../platform/settings/settings.ts'
import { temporalConnection } from '../platform/temporal/connection.ts'
import type { TemporalAccess } from './relay-service.ts'

/** How relay and worker get to the server at this address. */
export function accessTo(settings: Settings, address: string): TemporalAccess {
  const connection = temporalConnection(settings, address)
  return {
    namespace: settings.temporalNamespace,
    taskQueue: TASK_QUEUE,
    client: connection,
    worker: connection,
  }
}

/** Several processes work with a server that none of them has started. */
export function requireTemporal(settings: Settings): TemporalAccess {
  if (!settings.temporalAddress) throw new WrongSetting('Not set: TEMPORAL_ADDRESS.')
  return accessTo(settings, settings.temporalAddress)
}
