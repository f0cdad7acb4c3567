import { createServer } from 'node:http'
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { checkWithCertificate, startProxy } from '../production/cells/haproxy.ts'
import { certificate } from '../support/http/certificate.ts'
import { plainHttp } from '../support/plain-http.ts'
import { beforeRemoval, temporaryFolder } from '../support/processes/folders.ts'
import { lastingPort } from '../support/processes/lasting-port.ts'
import { until } from '../support/until.ts'

type FakeApi = Awaited<ReturnType<typeof fakeApi>>

/** Answers as an API process does, by its name. */
async function fakeApi(name: string) {
  const port = await lastingPort()
  let hasDatabase = true
  const server = createServer(({ url }, response) => {
    if (hasDatabase) return response.end(name)
    const code = url === '/health' ? 'database_unreachable' : 'unavailable'
    response.writeHead(503, { 'x-error-code': code, 'x-request-id': '1' }).end()
  })
  const listen = () => new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  const stop = async () => {
    const stopped = new Promise(resolve => server.close(resolve))
    server.closeAllConnections()
    await stopped
  }
  await listen()
  beforeRemoval(stop)
  return {
    address: `127.0.0.1:${port}`,
    listen,
    stop,
    setDatabase(has: boolean): void {
      hasDatabase = has
    },
  }
}

let one: FakeApi
let other: FakeApi
let ask: () => Promise<string>

/** The name of the process that answered, or who refused. */
const askAt = (url: string) => async (): Promise<string> => {
  // HAProxy would answer nothing on a connection whose next request reaches one that a process has just closed.
  const { status, headers, text } = await plainHttp(url)('GET', '/agents', {
    token: 'sk_live_c2_1',
    headers: { connection: 'close' },
  })
  if (status === 200) return text
  if (headers.has('x-request-id')) return `${status} of a process`
  return `${status} of HAProxy, ${headers.get('x-error-code')}, again after ${headers.get('retry-after')} s`
}

const severalAnswers = async (): Promise<string[]> => {
  const answers: string[] = []
  while (answers.length < 8) answers.push(await ask())
  return [...new Set(answers)].sort()
}

const untilAnswered = (...expected: readonly string[]) =>
  until(`only ${expected}`, async () => String(await severalAnswers()) === String(expected))

describe('HAProxy, with the configuration for cells,', () => {
  const folder = temporaryFolder()

  beforeAll(async () => {
    one = await fakeApi('one')
    other = await fakeApi('other')
    const { url, process } = await startProxy(
      folder,
      new Map([
        ['10.0.0.1:8081', `127.0.0.1:${await lastingPort()}`],
        ['10.0.0.1:8082', one.address],
        ['10.0.0.2:8082', other.address],
      ]),
    )
    beforeRemoval(process.stop)
    ask = askAt(url)
  })
  beforeEach(() => untilAnswered('one', 'other'))

  test('accepts it as it is, with a certificate', () => {
    expect(() => checkWithCertificate(folder, certificate.cert + certificate.key)).not.toThrow()
  })

  test('sends nothing to a process without its database until that is back', async () => {
    other.setDatabase(false)
    expect(await severalAnswers()).toEqual(['503 of a process', 'one'])
    await untilAnswered('one')
    other.setDatabase(true)
  })

  test('passes the refusals of the processes on while their database restarts, and later refuses itself', async () => {
    for (const api of [one, other]) api.setDatabase(false)
    expect(await severalAnswers()).toEqual(['503 of a process'])
    await untilAnswered('503 of HAProxy, unavailable, again after 1 s')
    for (const api of [one, other]) api.setDatabase(true)
  })

  test('holds requests while all processes of a cell are replaced at the same moment', async () => {
    await Promise.all([one.stop(), other.stop()])
    const held = Array.from({ length: 8 }, ask)
    await other.listen()
    expect(new Set(await Promise.all(held))).toEqual(new Set(['other']))
    await one.listen()
  })

  test('refuses requests for a cell without a process until one is back', async () => {
    await Promise.all([one.stop(), other.stop()])
    expect(await ask()).toBe('503 of HAProxy, unavailable, again after 1 s')
    await other.listen()
    await untilAnswered('other')
    await one.listen()
  })
})
