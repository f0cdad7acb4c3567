import { DefaultLogger, type LogLevel, Runtime } from '@temporalio/worker'
import type { Logger } from '../log.ts'

const levels: Readonly<Record<LogLevel, 'debug' | 'info' | 'warn' | 'error'>> = {
  TRACE: 'debug',
  DEBUG: 'debug',
  INFO: 'debug',
  WARN: 'warn',
  ERROR: 'error',
}

let installed = false

/** The SDK logs through our log and handles no signals: the process ends by itself in order. */
export function installRuntime(log: Logger): void {
  if (installed) return
  installed = true
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) =>
    log[levels[level]]({ ...meta }, message),
  )
  const telemetryOptions = { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } } as const
  Runtime.install({ shutdownSignals: [], logger, telemetryOptions })
}
