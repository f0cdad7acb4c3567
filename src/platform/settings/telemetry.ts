import { z } from 'zod'
import { documentSetting, integerSetting, webAddressSetting } from './setting.ts'

/** Pairs of W3C Baggage: `name=value,other=value`, with percent-encoded values. */
const pairsSetting = z.string().regex(/^ *[\w.-]+ *=[^,]*(, *[\w.-]+ *=[^,]*)*$/)

const samplers = [
  'parentbased_traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'traceidratio',
  'always_on',
  'always_off',
] as const

/** The names are those of the OpenTelemetry specification. */
export const telemetrySettings = {
  otelExporterOtlpEndpoint: documentSetting(webAddressSetting.optional(), {
    meaning: 'OpenTelemetry collector for traces and metrics by OTLP (HTTP, protobuf).',
    allowed: 'an http or https URL, without /v1/traces',
    otherwise: 'none',
  }),
  otelExporterOtlpHeaders: documentSetting(pairsSetting.optional(), {
    meaning: 'Headers for the collector, such as its key.',
    secret: true,
    allowed: 'name=value, separated by commas; values percent-encoded',
    otherwise: 'none',
  }),
  otelServiceName: documentSetting(z.string().min(1).max(255).default('agent-payments'), {
    meaning: 'Name of this process in traces and metrics.',
    allowed: 'any text',
  }),
  otelResourceAttributes: documentSetting(pairsSetting.optional(), {
    meaning: 'More about this process, such as `deployment.environment.name=live`.',
    allowed: 'name=value, separated by commas; values percent-encoded',
    otherwise: 'none',
  }),
  otelTracesSampler: documentSetting(z.enum(samplers).default('parentbased_traceidratio'), {
    meaning: 'Which requests are traced. With `parentbased_`, a client’s `traceparent` decides.',
    allowed: samplers.join(', '),
  }),
  otelTracesSamplerArg: documentSetting(z.coerce.number().min(0).max(1).default(1), {
    meaning: 'Share of requests that `traceidratio` traces.',
    allowed: '0 to 1',
  }),
  otelMetricsExporter: documentSetting(z.enum(['otlp', 'none']).default('otlp'), {
    meaning: 'Whether the collector also receives the metrics of `/metrics`.',
    allowed: 'otlp, none',
  }),
  otelMetricExportInterval: documentSetting(integerSetting(1_000, 3_600_000).default(60_000), {
    meaning: 'How often the metrics are sent, in milliseconds.',
    allowed: '1000 to 3600000',
  }),
}
