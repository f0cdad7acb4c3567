import { expect, test } from '@jest/globals'
import { cloneDatabase } from '../../support/database.ts'
import { DASHBOARD_SECRET, http } from '../../support/harness.ts'
import { createOwner, startApi } from '../../support/processes/processes.ts'
import { startCollector } from '../../support/telemetry/collector.ts'
import { until } from '../../support/until.ts'
import { aTrace } from './service.ts'

interface Line {
  readonly msg?: string
  readonly requestId?: string
  readonly status?: number
  readonly traceId?: string
  readonly spanId?: string
  readonly time?: string
}

const refusing = await startCollector()
refusing.answer(400)
const api = await startApi(await cloneDatabase(), {
  LOG_LEVEL: 'info',
  OTEL_EXPORTER_OTLP_ENDPOINT: refusing.url,
  OTEL_METRIC_EXPORT_INTERVAL: '1000',
})
const key = await createOwner(api.url)

const linesOf = (isWanted: (line: Line) => boolean): Line[] =>
  api
    .output()
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Line)
    .filter(isWanted)

const untilLogged = (isWanted: (line: Line) => boolean): Promise<Line> =>
  until('a line is logged', () => linesOf(isWanted)[0])

test('each line of the log about a request has the id of its trace', async () => {
  const { traceId, traceparent } = aTrace()
  const { headers } = await http(api.url, 'GET', '/agents', { token: key, headers: { traceparent } })
  const requestId = headers.get('x-request-id') ?? ''
  const line = await untilLogged(one => one.requestId === requestId && one.status !== undefined)
  expect(line).toMatchObject({ status: 200, traceId, spanId: expect.stringMatching(/^[\da-f]{16}$/) })
})

test('a collector that takes nothing costs no request; what is lost is counted, and logged at most once a minute', async () => {
  const lost = async (signal: string): Promise<number> => {
    const { text } = await http(api.url, 'GET', '/metrics', {
      headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
    })
    return Number(new RegExp(`^telemetry_lost_total{signal="${signal}"} (\\d+)$`, 'm').exec(text)?.[1] ?? 0)
  }
  await until('spans are lost', async () => (await lost('traces')) > 0)
  await until('metrics are lost', async () => (await lost('metrics')) > 0)
  const warned = ({ msg }: Line) => msg === 'traces or metrics did not reach the collector'
  await untilLogged(warned)
  const loggedAt = linesOf(warned).map(({ time = '' }) => Date.parse(time))
  const gaps = loggedAt.slice(1).map((at, place) => at - Number(loggedAt[place]))
  expect(Math.min(60_000, ...gaps)).toBeGreaterThan(55_000)
  expect(await http(api.url, 'GET', '/agents', { token: key })).toMatchObject({ status: 200 })
})
