import { createServer as createTcpServer } from 'node:net'
import { describe, expect, test } from '@jest/globals'
import type { OutboundRequest } from '../../../src/ports/outbound.ts'
import { guarded, textOf } from '../../support/http/guarded.ts'

const { listen, receiver, send } = await guarded()

describe('a request to a merchant', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    'by %s arrives with its body',
    async method => {
      const url = await receiver(async (request, response) =>
        response.end(`${request.method} ${(await request.toArray()).join('')}`),
      )
      expect(textOf(await send(url, { method, body: '{"a":1}' }))).toBe(`${method} {"a":1}`)
    },
  )

  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)('by %s needs no body', async method => {
    const url = await receiver((request, response) => response.end(request.method))
    const request: Partial<OutboundRequest> = { method }
    expect(textOf(await send(url, { ...request, body: '' }))).toBe(method)
  })

  test('keeps challenges in separate headers apart', async () => {
    const challenges = ['Payment id="a", realm="b, c"', 'Basic realm="d"']
    const url = await receiver((_, response) =>
      response
        .writeHead(
          402,
          [
            ['WWW-Authenticate', challenges[0] ?? ''],
            ['www-authenticate', challenges[1] ?? ''],
          ].flat(),
        )
        .end(),
    )
    const answer = await send(url)
    expect(answer).toMatchObject({
      status: 402,
      headers: { 'www-authenticate': challenges.join(', ') },
      headerLists: { 'www-authenticate': challenges },
    })
  })

  test('lists a header that comes once', async () => {
    const url = await receiver((_, response) => response.setHeader('X-One', 'a, b').end())
    expect(await send(url)).toMatchObject({ headerLists: { 'x-one': ['a, b'] } })
  })

  test('an answer with ten thousand challenges fails without parsing them', async () => {
    const many = 'WWW-Authenticate: Payment id="a"\r\n'.repeat(10_000)
    const port = await listen(
      createTcpServer(socket => {
        socket.on('error', () => undefined)
        socket.once('data', () => socket.end(`HTTP/1.1 402 Payment Required\r\n${many}\r\n`))
      }),
    )
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({
      kind: 'failed',
      message: 'The answer’s headers are too large.',
    })
  })
})

describe('a host that does not answer', () => {
  const held: (() => void)[] = []
  const release = () => held.splice(0).forEach(end => void end())
  const silent = async () => receiver((_, response) => void held.push(() => response.end('late')))
  const settled = async (url: string, count: number) => {
    const sent = Array.from({ length: count }, () =>
      send(url, { maxConcurrent: { ownerId: 'one', most: 3 } }),
    )
    while (held.length < 3) await new Promise(resolve => setTimeout(resolve, 5))
    return sent
  }

  test('holds as many requests as it may; the next ones are turned away at once', async () => {
    const url = await silent()
    const sent = await settled(url, 5)
    const turnedAway = await Promise.all(sent.slice(3))
    expect(turnedAway.map(({ kind }) => kind)).toEqual(['busy', 'busy'])
    expect(turnedAway[0]).toMatchObject({ message: expect.stringMatching(/Nothing was sent. Try again\.$/) })
    release()
    expect((await Promise.all(sent.slice(0, 3))).map(textOf)).toEqual(['late', 'late', 'late'])
  })

  test('accepts requests again once others have ended', async () => {
    const url = await silent()
    const sent = await settled(url, 3)
    release()
    await Promise.all(sent)
    const again = send(url, { maxConcurrent: { ownerId: 'one', most: 3 } })
    while (held.length === 0) await new Promise(resolve => setTimeout(resolve, 5))
    release()
    expect(textOf(await again)).toBe('late')
  })

  test('does not limit other origins, or requests without a limit', async () => {
    const url = await silent()
    const sent = await settled(url, 3)
    const other = await receiver((_, response) => response.end('other'))
    expect(textOf(await send(other, { maxConcurrent: { ownerId: 'one', most: 3 } }))).toBe('other')
    const unlimited = send(url)
    while (held.length < 4) await new Promise(resolve => setTimeout(resolve, 5))
    release()
    expect(textOf(await unlimited)).toBe('late')
    await Promise.all(sent)
  })

  test('does not limit another owner', async () => {
    const url = await silent()
    const sent = await settled(url, 4)
    expect((await sent[3])?.kind).toBe('busy')
    const ofOther = send(url, { maxConcurrent: { ownerId: 'other', most: 3 } })
    while (held.length < 4) await new Promise(resolve => setTimeout(resolve, 5))
    release()
    expect(textOf(await ofOther)).toBe('late')
    await Promise.all(sent)
  })

  test('is free again after a request that fails', async () => {
    const url = await receiver((_, response) => response.destroy())
    for (let n = 0; n < 3; n++)
      expect((await send(url, { maxConcurrent: { ownerId: 'one', most: 1 } })).kind).toBe('failed')
  })
})
