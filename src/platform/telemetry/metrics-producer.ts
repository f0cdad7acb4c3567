import { type HrTime, ValueType } from '@opentelemetry/api'
import type { Resource } from '@opentelemetry/resources'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type MetricData,
  type MetricProducer,
} from '@opentelemetry/sdk-metrics'
import { clock } from '../../values/clock.ts'
import type { MetricFamily, Metrics } from '../metrics.ts'

/** Reads the metrics of `/metrics` for OpenTelemetry, under the same names and with the same labels. */
export function metricsProducer(
  metrics: Pick<Metrics, 'read'>,
  resource: Resource,
  name: string,
): MetricProducer {
  const startTime = timeOf(clock.milliseconds())
  return {
    async collect() {
      const families = await metrics.read()
      const times = { startTime, endTime: timeOf(clock.milliseconds()) }
      const read = families.flatMap(family => dataOf(family, times) ?? [])
      return { resourceMetrics: { resource, scopeMetrics: [{ scope: { name }, metrics: read }] }, errors: [] }
    },
  }
}

interface Times {
  readonly startTime: HrTime
  readonly endTime: HrTime
}

const timeOf = (milliseconds: number): HrTime => [
  Math.floor(milliseconds / 1_000),
  (milliseconds % 1_000) * 1_000_000,
]

/** Summaries are left out: we have none. */
function dataOf(family: MetricFamily, times: Times): MetricData | undefined {
  const { name, help, type, values } = family
  const about = {
    descriptor: { name, description: help, unit: '', valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  const points = (): DataPoint<number>[] =>
    values.map(({ value, labels }) => ({ ...times, attributes: labels, value }))
  if (type === 'gauge') return { ...about, dataPointType: DataPointType.GAUGE, dataPoints: points() }
  if (type === 'counter')
    return { ...about, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints: points() }
  if (type !== 'histogram') return undefined
  return { ...about, dataPointType: DataPointType.HISTOGRAM, dataPoints: histogramPoints(family, times) }
}

/** Prometheus counts the values up to each boundary; OpenTelemetry those between two. */
function histogramPoints({ name, values }: MetricFamily, times: Times): DataPoint<Histogram>[] {
  const groups = Map.groupBy(values, ({ labels: { le: _, ...labels } }) => JSON.stringify(labels))
  return [...groups.values()].map(group => {
    const of = (suffix: string) => group.find(({ metricName }) => metricName === `${name}_${suffix}`)
    const { labels = {}, value: count = 0 } = of('count') ?? {}
    const upTo = group.filter(({ metricName }) => metricName === `${name}_bucket`)
    const counts = upTo.map(({ value }, n) => value - (upTo[n - 1]?.value ?? 0))
    const boundaries = upTo.map(({ labels: { le } }) => Number(le)).filter(Number.isFinite)
    const value = { buckets: { boundaries, counts }, count, sum: of('sum')?.value ?? 0 }
    return { ...times, attributes: labels, value }
  })
}
