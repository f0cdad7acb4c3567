import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { host } from '../host.mjs'

/** The address of a Web UI that answers every caller that finds it. */
export interface HiddenAddress {
  readonly host: string
  readonly port: number
}

export interface WebUiProxy {
  forwardTo(place: HiddenAddress): void
  close(): void
}

/**
 * An address of this machine that no web page can guess: the Web UI answers under any name and any path. Only
 * Linux has a whole loopback network; elsewhere only the port is unknown.
 */
export const hiddenHost = (): string =>
  host.hasLoopbackNetwork ? [127, octet(), octet(), octet()].join('.') : '127.0.0.1'

const octet = (): number => randomInt(1, 255)

/** The names of this machine, which DNS cannot make a foreign name look like. */
const OWN_NAME = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i

const READING = new Set(['GET', 'HEAD'])

const OF_CONNECTION = new Set(['connection', 'keep-alive', 'upgrade', 'te', 'expect', 'proxy-connection'])

/** Serves the Web UI to browsers of this machine, and to no page from elsewhere. */
export async function openWebUi(port: number): Promise<WebUiProxy> {
  let place: HiddenAddress | undefined
  const server = createServer((asked, answer) => {
    const refusal = refusalOf(asked)
    if (refusal) return refuse(answer, ...refusal)
    if (!place) return refuse(answer, 502, AWAY)
    forward(asked, answer, place)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    forwardTo(next) {
      place = next
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

const AWAY = 'Temporal is starting. Try again in a few seconds.'

type Refusal = readonly [status: number, why: string]

/**
 * Against DNS rebinding and cross-site requests: a rebound page sends its own name as `Host`, and a browser
 * states the origin of a request that changes something. Other programs send no origin.
 */
function refusalOf({ method = '', url = '', headers }: IncomingMessage): Refusal | undefined {
  const { host = '', origin, 'sec-fetch-site': site = 'none' } = headers
  if (!OWN_NAME.test(host)) return [421, 'The Web UI is only available at localhost, 127.0.0.1 and [::1].']
  if (!url.startsWith('/')) return [400, 'The request has no path.']
  if (READING.has(method)) return undefined
  const isOwn = origin === undefined || origin === `http://${host}`
  return isOwn && (site === 'same-origin' || site === 'none')
    ? undefined
    : [403, 'Pages of other origins cannot change anything here.']
}

function refuse(answer: ServerResponse, status: number, why: string): void {
  answer
    .writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' })
    .end(`${why}\n`)
}

function forward(asked: IncomingMessage, answer: ServerResponse, { host, port }: HiddenAddress): void {
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
