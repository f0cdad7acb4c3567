import { EventEmitter } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import { bodyRoom } from '../../../../src/derive/http/body-room.ts'
import { DASHBOARD_SECRET, startTestService } from '../../../support/harness.ts'
import { request } from '../../../support/http/raw.ts'
import { times } from '../../../support/sample-service.ts'
import { until } from '../../../support/until.ts'

const KIB = 1_024
const LARGE = 256 * KIB

const service = await startTestService({ env: { BODY_MEMORY_MIB: '8' } })
const owner = await service.owner()

async function bytesTaken(): Promise<number> {
  const headers = { 'x-dashboard-secret': DASHBOARD_SECRET }
  const { text } = await service.http('GET', '/metrics', { headers })
  return Number(/^http_body_bytes (\S+)$/m.exec(text)?.[1])
}

describe('large bodies on their way', () => {
  test('of one client have an eighth of the room, and what is small passes by those that wait', async () => {
    const { hostname, port } = new URL(service.url)
    const headers = { Authorization: `Bearer ${owner.key}`, 'Content-Length': String(LARGE) }
    const sockets = Array.from({ length: 20 }, () => connect(Number(port), hostname))
    for (const socket of sockets) socket.write(request('POST', '/policies', headers))
    await until('its share is taken', async () => (await bytesTaken()) === (8 * KIB * KIB) / 8)
    expect((await owner.client.policies.create({ body: { name: 'Small' } })).status).toBe(201)
    for (const socket of sockets) socket.destroy()
    await until('all is given back', async () => (await bytesTaken()) === 0)
  })

  test('come in one after the other where there is not room for all', async () => {
    const body = { name: 'x'.repeat(200 * KIB) }
    const answers = await times(30, () => service.http('POST', '/policies', { token: owner.key, body }))
    expect(new Set(answers.map(({ status, body: told }) => `${status} ${told.error.slice(0, 5)}`))).toEqual(
      new Set(['400 name:']),
    )
  })
})

/** A request as far as the room knows it. */
const aRequest = () => new EventEmitter() as IncomingMessage

/** Who is in, by name, as the room lets them in. */
function entering(room: ReturnType<typeof bodyRoom>) {
  const inside: string[] = []
  const enter = (name: string, bytes: number, client = name, asked = aRequest()) =>
    room.take(asked, client, bytes).then(
      leave => {
        inside.push(name)
        return leave
      },
      (problem: { code: string }) => problem.code,
    )
  return { inside, enter }
}

describe('room for bodies', () => {
  test('is given in the order of asking, but a client whose share is full holds up nobody else', async () => {
    const { inside, enter } = entering(bodyRoom(8 * LARGE))
    const first = enter('a1', LARGE, 'a')
    void enter('a2', LARGE, 'a')
    void enter('b', LARGE)
    const leave = (await first) as () => void
    expect(inside).toEqual(['a1', 'b'])
    leave()
    await Promise.resolve()
    expect(inside).toEqual(['a1', 'b', 'a2'])
  })

  test('is not waited for by a client who has gone, and not for ever by one who stays', async () => {
    const room = bodyRoom(8 * LARGE)
    const { inside, enter } = entering(room)
    const [gone, late] = [aRequest(), aRequest()]
    const leave = (await enter('first', LARGE, 'a')) as () => void
    const ends = [enter('gone', LARGE, 'a', gone), enter('late', LARGE, 'a', late)]
    gone.emit('close')
    late.emit('timeout')
    expect(await Promise.all(ends)).toEqual(['body_incomplete', 'overloaded'])
    leave()
    expect([inside, room.taken()]).toEqual([['first'], 0])
  })

  test('is had by the largest body there is, however little there is', async () => {
    const { inside, enter } = entering(bodyRoom(1))
    await enter('only', 1_024 * KIB)
    expect(inside).toEqual(['only'])
  })
})
