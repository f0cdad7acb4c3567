import { type Logger, openLog } from '../platform/log.ts'
import type { Settings } from '../platform/settings/settings.ts'
import { openTelemetry } from '../platform/telemetry/telemetry.ts'
import type { Telemetry } from '../platform/telemetry/tracer.ts'
import type { Tracing } from '../ports/tracing.ts'
import { SERVICE_VERSION } from '../surface/health/index.ts'

interface Reports {
  readonly log: Logger
  readonly telemetry: Telemetry | null
  readonly tracing: Tracing | null
}

/** Opens what a process reports by: its log, and traces if a collector is configured. */
export async function openReports(settings: Settings): Promise<Reports> {
  const telemetry = await openTelemetry(settings, SERVICE_VERSION, error =>
    log.warn({ err: error }, 'traces or metrics did not reach the collector'),
  )
  const tracing = telemetry?.tracing ?? null
  const { logLevel: level, logFormat: format } = settings
  const log = openLog({ level, secrets: secretsIn(settings), format, fields: telemetry?.tracing.logFields })
  return { log, telemetry, tracing }
}

function secretsIn(settings: Settings): string[] {
  const { dashboardSecret, cursorSigningKey, encryptionKey, encryptionKeysOld = [] } = settings
  const own = [dashboardSecret, cursorSigningKey, encryptionKey, ...encryptionKeysOld]
  const { stripeSecretKey, stripeWebhookSecret, stripeWebhookSecretEvents = [] } = settings
  const ofStripe = [stripeSecretKey, stripeWebhookSecret, ...stripeWebhookSecretEvents]
  const { temporalApiKey, canvasModelKey, filesSecretKey, otelExporterOtlpHeaders } = settings
  const others = [temporalApiKey, canvasModelKey, filesSecretKey, otelExporterOtlpHeaders]
  return [...own, ...ofStripe, ...others].filter(secret => secret !== undefined)
}
