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

/** The SDK speaks through our log, and leaves the signals to the process, which has its own way to end. */
export function installRuntime(log: Logger): void {
  if (installed) return
  installed = true
  const logger = new DefaultLogger('INFO', ({ level, message, meta }) =>
    log[levels[level]]({ ...meta }, message),
  )
  const telemetryOptions = { logging: { filter: { core: 'WARN', other: 'ERROR' }, forward: {} } } as const
  Runtime.install({ shutdownSignals: [], logger, telemetryOptions })
}
