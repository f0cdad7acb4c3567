import { describe, expect, test } from '@jest/globals'
import { readSettings } from '../../../src/platform/settings/settings.ts'
import { openTelemetry } from '../../../src/platform/telemetry/telemetry.ts'
import type { Telemetry } from '../../../src/platform/telemetry/tracer.ts'
import { startCollector } from '../../support/telemetry/collector.ts'
import { until } from '../../support/until.ts'
import { aTrace } from './service.ts'

const QUEUE = 2_048

const collector = await startCollector()

async function opened(env: Readonly<Record<string, string>>) {
  const before = collector.spans().length
  const spans = () => collector.spans().slice(before)
  const failures: unknown[] = []
  const settings = readSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })
  const telemetry = await openTelemetry(settings, '1', error => failures.push(error))
  if (!telemetry) throw new Error('a collector is configured')
  const lost: number[] = []
  const read = async () => []
  /** The end waits two seconds at most, and on a busy machine what is being sent then arrives later. */
  const stop = async (count: number) => {
    await telemetry.stop()
    await until(`${count} spans arrive`, () => spans().length >= count)
  }
  telemetry.exportMetrics({ read, lost: (signal, count) => void (signal === 'traces' && lost.push(count)) })
  return { spans, failures, telemetry, lost, stop }
}

const serve = ({ tracing }: Telemetry, parent?: string) =>
  tracing.span(
    { name: 'request', kind: 'server', parent, begins: true },
    async ({ traceparent }) => traceparent,
  )

describe('what is traced', () => {
  test.each([
    [{}, [true, true, false]],
    [{ OTEL_TRACES_SAMPLER_ARG: '0' }, [false, true, false]],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, [false, true, false]],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }, [false, false, false]],
    [{ OTEL_TRACES_SAMPLER: 'always_on' }, [true, true, true]],
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, [false, false, false]],
  ])('by %j of requests without a parent, with a sampled one, and with another', async (env, wanted) => {
    const { spans, telemetry, lost, stop } = await opened(env)
    const parents = [undefined, aTrace('01').traceparent, aTrace('00').traceparent]
    const stored = []
    for (const parent of parents) stored.push(await serve(telemetry, parent))
    const count = wanted.filter(Boolean).length
    await stop(count)
    expect(stored.map(traceparent => traceparent !== undefined)).toEqual(wanted)
    expect(spans()).toHaveLength(count)
    expect(lost).toEqual([])
  })
})

test('nothing is loaded or recorded without a collector', async () => {
  expect(await openTelemetry(readSettings({}), '1', () => undefined)).toBeNull()
})

test('more spans than the queue holds are dropped and counted, and the others arrive', async () => {
  const { spans, failures, telemetry, lost } = await opened({})
  // In one turn of the event loop nothing can be sent.
  const all = Array.from({ length: QUEUE + 500 }, () => serve(telemetry))
  await Promise.all(all)
  await telemetry.stop()
  const dropped = () => lost.reduce((sum, count) => sum + count, 0)
  await until('every span is sent or counted', () => spans().length + dropped() >= QUEUE + 500)
  expect(dropped()).toBeGreaterThan(0)
  expect(spans().length + dropped()).toBe(QUEUE + 500)
  expect(failures).toHaveLength(1)
})

test('an error shows its kind, and never its message', async () => {
  const { spans, telemetry, stop } = await opened({})
  const failing = (error: unknown) =>
    telemetry.tracing
      .span({ name: 'failing', begins: true }, () => Promise.reject(error))
      .catch(() => undefined)
  await failing(new TypeError('words of a client'))
  await failing(Object.assign(new Error('words'), { code: '23505' }))
  await failing(Object.assign(new Error('words'), { code: 'not_found', status: 404 }))
  await failing(null)
  await stop(4)
  const shown = spans().map(({ failed, attributes }) => [failed, attributes['error.type']])
  expect(shown).toEqual([
    [true, 'TypeError'],
    [true, '23505'],
    [false, 'not_found'],
    [true, 'Error'],
  ])
  expect(spans().some(({ text }) => text.includes('words'))).toBe(false)
})
