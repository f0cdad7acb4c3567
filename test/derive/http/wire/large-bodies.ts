import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { bodyMemory } from '../../../../src/derive/http/body-memory.ts'
import { times } from '../../../support/at-once.ts'
import { DASHBOARD_SECRET, startTestService } from '../../../support/harness.ts'
import { request } from '../../../support/http/raw.ts'
import { until } from '../../../support/until.ts'

const KIB = 1_024
const LARGE = 256 * KIB

const service = await startTestService({ env: { BODY_MEMORY_MIB: '8' } })
const owner = await service.owner()

async function bytesInUse(): Promise<number> {
  const headers = { 'x-dashboard-secret': DASHBOARD_SECRET }
  const { text } = await service.http('GET', '/metrics', { headers })
  return Number(/^http_body_bytes (\S+)$/m.exec(text)?.[1])
}

describe('large bodies', () => {
  test('of one client share an eighth of the memory, and small bodies do not wait for it', async () => {
    const { hostname, port } = new URL(service.url)
    const headers = { Authorization: `Bearer ${owner.key}`, 'Content-Length': String(LARGE) }
    const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname))
    for (const socket of sockets) socket.write(request('POST', '/policies', headers))
    await until('its share is taken', async () => (await bytesInUse()) === (8 * KIB * KIB) / 8)
    expect((await owner.client.policies.create({ body: { name: 'Small' } })).status).toBe(201)
    for (const socket of sockets) socket.destroy()
    await until('all is given back', async () => (await bytesInUse()) === 0)
  })

  test('are read one after the other if there is not memory for all', async () => {
    const body = { name: 'x'.repeat(200 * KIB) }
    const answers = await times(30, () => service.http('POST', '/policies', { token: owner.key, body }))
    expect(
      new Set(answers.map(({ status, body: errorBody }) => `${status} ${errorBody.error.slice(0, 5)}`)),
    ).toEqual(new Set(['400 name:']))
  })
})

/** A request with the members that the memory limit uses. */
const aRequest = () => new EventEmitter() as IncomingMessage

/** Requests by name, in the order in which they are granted memory. */
function entrants(room: ReturnType<typeof bodyMemory>) {
  const inside: string[] = []
  const enter = (name: string, bytes: number, client = name, incoming = aRequest()) =>
    room.reserve(incoming, client, bytes).then(
      leave => {
        inside.push(name)
        return leave
      },
      (problem: { code: string }) => problem.code,
    )
  return { inside, enter }
}

describe('memory for bodies', () => {
  test('is granted in order, but a client beyond its share delays no other', async () => {
    const { inside, enter } = entrants(bodyMemory(8 * LARGE))
    const first = enter('a1', LARGE, 'a')
    void enter('a2', LARGE, 'a')
    void enter('b', LARGE)
    const leave = (await first) as () => void
    expect(inside).toEqual(['a1', 'b'])
    leave()
    await Promise.resolve()
    expect(inside).toEqual(['a1', 'b', 'a2'])
  })

  test('is not granted to a client that has left, or that waited too long', async () => {
    const room = bodyMemory(8 * LARGE)
    const { inside, enter } = entrants(room)
    const [gone, late] = [aRequest(), aRequest()]
    const leave = (await enter('first', LARGE, 'a')) as () => void
    const ends = [enter('gone', LARGE, 'a', gone), enter('late', LARGE, 'a', late)]
    gone.emit('close')
    late.emit('timeout')
    expect(await Promise.all(ends)).toEqual(['body_incomplete', 'overloaded'])
    leave()
    expect([inside, room.reservedBytes()]).toEqual([['first'], 0])
  })

  test('memory is always granted to a single body of any size', async () => {
    const { inside, enter } = entrants(bodyMemory(1))
    await enter('only', 1_024 * KIB)
    expect(inside).toEqual(['only'])
  })
})
