import { expect, test } from '@jest/globals'
import { until } from '../../support/until.ts'
import { COLLECTOR_KEY, collector, service } from './service.ts'

const text = async () => {
  const headers = { 'x-dashboard-secret': service.dashboardSecret }
  return (await service.http('GET', '/metrics', { headers })).text
}

const namesIn = (metrics: string): string[] =>
  [...metrics.matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name)

test('the collector receives the metrics of /metrics under their names', async () => {
  await service.owner()
  const one = () =>
    collector.metrics().find(({ name, points }) => name === 'http_request_seconds' && points.length > 0)
  const times = await until('the metrics are collected', one)
  const wanted = namesIn(await text()).filter(name => !/^nodejs_gc|^nodejs_version/.test(name))
  expect(collector.metrics().map(({ name }) => name)).toEqual(expect.arrayContaining(wanted))
  expect(times.kind).toBe('histogram')
  for (const { count, bucketCounts = [], explicitBounds = [], attributes } of times.points) {
    expect(bucketCounts.map(Number).reduce((sum, each) => sum + each, 0)).toBe(Number(count))
    expect(bucketCounts).toHaveLength(explicitBounds.length + 1)
    expect(Object.keys(attributes).sort()).toEqual(['class', 'noun', 'status'])
  }
  expect(await text()).toMatch(/^temporal_reachable 1$/m)
  expect(collector.metrics().find(({ name }) => name === 'http_requests_total')?.kind).toBe('sum')
  expect(collector.requests.map(headers => headers['x-collector-key'])).toContain(COLLECTOR_KEY)
})
