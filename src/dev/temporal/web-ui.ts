import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { host } from '../host.mjs'

/** Where a Web UI listens that answers whoever finds it. */
export interface HiddenPlace {
  readonly host: string
  readonly port: number
}

export interface WebUiProxy {
  /** Sets the address that requests are forwarded to. */
  leadTo(place: HiddenPlace): void
  close(): void
}

/**
 * An address of this machine that no web page can guess: the Web UI answers under any name and any path, also without
 * its public path. Other systems than Linux have only one such address, and there the port alone is unknown.
 */
export const hiddenHost = (): string =>
  host.hasLoopbackNetwork ? [127, octet(), octet(), octet()].join('.') : '127.0.0.1'

const octet = (): number => randomInt(1, 255)

/** The names of this machine; nobody else's name can be made to look like one of them. */
const OWN_NAME = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

const READING = new Set(['GET', 'HEAD'])

/** Hop-by-hop headers, which are not forwarded. */
const OF_CONNECTION = new Set(['connection', 'keep-alive', 'upgrade', 'te', 'expect', 'proxy-connection'])

/** The Web UI for a browser of this machine, and for no page that comes from elsewhere. */
export async function openWebUi(port: number): Promise<WebUiProxy> {
  let place: HiddenPlace | undefined
  const server = createServer((asked, answer) => {
    const refusal = refusalOf(asked)
    if (refusal) return refuse(answer, ...refusal)
    if (!place) return refuse(answer, 502, AWAY)
    forward(asked, answer, place)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    leadTo(next) {
      place = next
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const AWAY = 'Temporal does not answer just now: it is being started. Try again in some seconds.'

type Refusal = readonly [status: number, why: string]

/**
 * A page whose name has been made to lead here tells its own name as `Host`. One from elsewhere may ask for nothing
 * that changes something: a browser says where it comes from, and other programs say nothing of the kind.
 */
function refusalOf({ method = '', url = '', headers }: IncomingMessage): Refusal | undefined {
  const { host = '', origin, 'sec-fetch-site': site = 'none' } = headers
  if (!OWN_NAME.test(host)) return [421, 'The Web UI answers under localhost, 127.0.0.1 and [::1] only.']
  if (!url.startsWith('/')) return [400, 'The request names no path.']
  if (READING.has(method)) return undefined
  const isOwn = origin === undefined || origin === `http://${host}`
  return isOwn && (site === 'same-origin' || site === 'none')
    ? undefined
    : [403, 'Pages of other origins change nothing here.']
}

function refuse(answer: ServerResponse, status: number, why: string): void {
  answer
    .writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' })
    .end(`${why}\n`)
}

function forward(asked: IncomingMessage, answer: ServerResponse, { host, port }: HiddenPlace): void {
  const { method, url: path, headers: given } = asked
  const kept = Object.entries(given).filter(([name]) => !OF_CONNECTION.has(name))
  const headers = { ...Object.fromEntries(kept), host: `${host}:${port}` }
  const away = () => (answer.headersSent ? answer.destroy() : refuse(answer, 502, AWAY))
  const onwards = request({ host, port, method, path, headers }, found => {
    const told = Object.entries(found.headers).filter(([name]) => !OF_CONNECTION.has(name))
    answer.writeHead(found.statusCode ?? 502, Object.fromEntries(told))
    pipeline(found, answer, () => undefined)
  })
  onwards.on('error', away)
  answer.on('close', () => onwards.destroy())
  pipeline(asked, onwards, () => undefined)
}
