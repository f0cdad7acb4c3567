import type { Settings } from '../settings/settings.ts'
import type { Telemetry } from './tracer.ts'

/** Loads OpenTelemetry only if a collector is configured: without one nothing of it is in the process. */
export async function openTelemetry(
  settings: Settings,
  version: string,
  onFailure: (error: unknown) => void,
): Promise<Telemetry | null> {
  const { otelExporterOtlpEndpoint: endpoint } = settings
  if (endpoint === undefined) return null
  const { startExport } = await import('./export.ts')
  return startExport({ ...settings, endpoint, version }, onFailure)
}
