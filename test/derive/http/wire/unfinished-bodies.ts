import { connect, type Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { areas } from '../../../../src/areas.ts'
import type { Area } from '../../../../src/kernel/contract/area.ts'
import type { RegisteredOperation } from '../../../../src/kernel/contract/operation.ts'
import { acceptingOutbound } from '../../../support/contract/contract.ts'
import { credentials, operations, unknownId, withSession } from '../../../support/contract/world.ts'
import { DASHBOARD_SECRET, startTestService } from '../../../support/harness.ts'
import { until } from '../../../support/until.ts'

const calledHandlers: string[] = []

const service = await startTestService({ areas: recordingCalls(areas), outbound: acceptingOutbound })
const owner = await withSession(service, await service.owner())

function recordingCalls<A extends object>(all: A): A {
  const recorded = (key: string, handler: unknown): unknown => {
    if (typeof handler === 'function')
      return (...args: unknown[]) => {
        calledHandlers.push(key)
        return handler(...args)
      }
    const hasSteps = typeof handler === 'object' && handler !== null
    return hasSteps ? mapped(handler, (_, step) => recorded(key, step)) : handler
  }
  return mapped(all, (noun, area) => ({
    ...area,
    handlers: mapped(area.handlers, (verb, handler) => recorded(`${noun}.${verb}`, handler)),
  })) as A
}

function mapped(of: object, change: (name: string, value: Area) => unknown): object {
  return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, change(name, value)]))
}

/** How a body is announced, and the part that is sent before the client disconnects. */
interface BodyBreak {
  readonly announced: (body: string) => Record<string, string | number>
  readonly sent: (body: string) => string
}

const byLength = (body: string) => ({ 'Content-Length': Buffer.byteLength(body) })
const inChunks = () => ({ 'Transfer-Encoding': 'chunked' })
const chunk = (body: string): string => `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n`

const breaks: readonly BodyBreak[] = [
  { announced: byLength, sent: () => '' },
  { announced: byLength, sent: body => body.slice(0, body.length / 2) },
  { announced: byLength, sent: body => body.slice(0, -1) },
  { announced: inChunks, sent: () => '' },
  { announced: inChunks, sent: body => chunk(body).slice(0, -3) },
  { announced: inChunks, sent: chunk },
]

const endings = [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy()] as const

/** Sends a part of the body once the service asks for it, and disconnects. */
function hangUp(head: string, part: string, end: (socket: Socket) => unknown): Promise<void> {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  return new Promise(resolve => {
    socket.on('error', () => undefined).on('close', () => resolve())
    socket.write(head)
    socket.once('data', () => socket.write(part, () => end(socket)))
  })
}

const METRICS = 'health.metrics'

/** How many requests the service has finished, except those for metrics. */
async function servedCount(): Promise<number> {
  const { text } = await service.http('GET', '/metrics', {
    headers: { 'x-dashboard-secret': DASHBOARD_SECRET },
  })
  const counts = [...text.matchAll(/^http_requests_total\{operation="([^"]+)".* (\d+)$/gm)]
  return counts.reduce((sum, [, key, count]) => (key === METRICS ? sum : sum + Number(count)), 0)
}

const TRACES = `
select (select count(*) from events) as events,
  (select count(*) from idempotency_keys) as keys, (select count(*) from outbox) as outbox`

const bodyOperations = operations.filter(({ key }) => key !== METRICS)

/** Sends this request with every kind of break, with an idempotency key and without. */
function sendBroken(registered: RegisteredOperation): Promise<void>[] {
  const { token, headers } = credentials(registered, owner)
  const path = registered.operation.path.replace(/\{\w+\}/g, unknownId('nothing'))
  const body = JSON.stringify(registered.operation.example ?? {})
  const tries = breaks.flatMap(way => [
    [way, {}] as const,
    [way, { 'Idempotency-Key': `broken-${registered.key}` }] as const,
  ])
  return tries.map(([{ announced, sent }, key], index) => {
    const lines = Object.entries({
      Host: 'localhost',
      Expect: '100-continue',
      'Content-Type': 'application/json',
      ...headers,
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...announced(body),
      ...key,
    })
    const head = [`${registered.operation.method} ${path} HTTP/1.1`, ...lines.map(line => line.join(': '))]
    return hangUp(
      `${head.join('\r\n')}\r\n\r\n`,
      sent(body),
      endings[(index + registered.key.length) % 2 === 0 ? 0 : 1],
    )
  })
}

test('a request whose body breaks off anywhere never reaches the handler of any operation', async () => {
  const [traces] = await service.sql(TRACES)
  const [before, handled] = [await servedCount(), calledHandlers.length]
  for (const registered of bodyOperations) await Promise.all(sendBroken(registered))
  const sent = bodyOperations.length * 2 * breaks.length
  await until('the service is through with them', async () => (await servedCount()) === before + sent)
  expect(calledHandlers.slice(handled).filter(key => key !== METRICS)).toEqual([])
  expect((await service.sql(TRACES))[0]).toEqual(traces)
})
