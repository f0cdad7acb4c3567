import { connect, type Socket } from 'node:net'
import { DEADLINE_MS } from '../until.ts'

export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

export function request(
  method: string,
  target: string,
  headers: Record<string, string> = {},
  body = '',
): string {
  const length = body === '' ? {} : { 'Content-Length': String(Buffer.byteLength(body)) }
  const lines = Object.entries({ Host: 'localhost', ...length, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  )
  return [`${method} ${target} HTTP/1.1`, ...lines, '', body].join('\r\n')
}

/**
 * Sends these messages in sequence over one connection, each after the previous answer. Fewer answers than
 * messages: the service closed the connection.
 */
export function exchange(url: string, ...messages: readonly (string | Buffer)[]): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  const answers: RawAnswer[] = []
  let rest = Buffer.alloc(0)
  return new Promise((resolve, reject) => {
    const next = (): void => {
      const message = messages[answers.length]
      if (message === undefined) socket.end()
      else socket.write(message)
    }
    socket.setTimeout(DEADLINE_MS, () => reject(new Error('no answer')))
    socket.on('connect', next)
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answers))
    socket.on('data', data => {
      rest = Buffer.concat([rest, data])
      const answer = answerIn(rest, String(messages[answers.length]).startsWith('HEAD'))
      if (!answer) return
      rest = rest.subarray(answer.length)
      answers.push(answer)
      next()
    })
  })
}

/** A connection over which a test can send any bytes at any time. */
export interface RawClient {
  readonly socket: Socket
  received(): string
  readonly closed: Promise<unknown>
}

export function rawClient(url: string): RawClient {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  let received = ''
  socket.on('data', data => {
    received += data.toString('latin1')
  })
  const closed = new Promise(resolve => socket.on('error', () => undefined).on('close', resolve))
  return { socket, received: () => received, closed }
}

/** The first answer in these bytes, once it is complete. */
function answerIn(bytes: Buffer, toHead: boolean): (RawAnswer & { length: number }) | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Headers(lines.map((line): [string, string] => split(line)))
  const size = toHead ? 0 : Number(headers.get('content-length') ?? 0)
  const length = end + 4 + size
  if (bytes.length < length) return undefined
  return {
    status: Number(first.split(' ')[1]),
    headers,
    text: bytes.subarray(end + 4, length).toString(),
    length,
  }
}

function split(line: string): [string, string] {
  const colon = line.indexOf(':')
  return [line.slice(0, colon), line.slice(colon + 1).trim()]
}
