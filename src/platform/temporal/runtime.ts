import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common'
import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker'
import type { Logger } from '../log.ts'

const levels: Readonly<Record<LogLevel, 'debug' | 'info' | 'warn' | 'error'>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
}

/** The queues of calls and of webhooks have no workflows. */
const ACTIVITIES_ONLY = 'No workflows registered, not polling for workflow tasks'

let installed = false

/** The SDK uses our log and handles no signals: this process shuts itself down. */
export function installTemporalRuntime(log: Logger): void {
  if (installed) return
  installed = true
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) =>
    log[message.startsWith(ACTIVITIES_ONLY) ? 'debug' : levels[level]]({ ...meta }, message),
  )
  const telemetryOptions = { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } } as const
  Runtime.install({ shutdownSignals: [], logger, telemetryOptions })
}

const NOTHING = defaultPayloadConverter.toPayload(null)

function isLegible(payload: Payload): boolean {
  try {
    defaultPayloadConverter.fromPayload(payload)
    return true
  } catch {
    return false
  }
}

/**
 * Decodes an unreadable payload as null: an operator may signal anything, and an error would fail the task
 * for ever.
 */
export const lenientPayloadCodec: PayloadCodec = {
  encode: async payloads => payloads,
  decode: async payloads => payloads.map(payload => (isLegible(payload) ? payload : NOTHING)),
}
