import { request as httpRequest, type IncomingMessage } from 'node:http'
import type { CallRequest } from '../../derive/call.ts'
import { NoAnswer } from '../../derive/retry.ts'

export interface ServiceReply {
  readonly status: number
  readonly headers: { get(name: string): string | null }
  readonly content: AsyncIterable<Uint8Array>
}

/** Longer than any operation takes: a silent host is gone. */
export const SILENCE_MS = 120_000

export interface ServiceRequest extends Omit<CallRequest, 'body'> {
  readonly body?: string | Uint8Array
}

/** Sends one request. Node's own HTTP client starts faster than `fetch`, which would load another one. */
export async function sendServiceRequest(
  { url, method, headers, body }: ServiceRequest,
  signal: AbortSignal,
  silenceMs: number,
): Promise<ServiceReply> {
  const isEncrypted = /^https:/i.test(url)
  const request = isEncrypted ? (await import('node:https')).request : httpRequest
  return new Promise((resolve, reject) => {
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const outgoing = request(url, { method, headers: { ...headers, ...length }, signal, agent: false })
    let isConnected = false
    outgoing.on('socket', socket => {
      socket.once(isEncrypted ? 'secureConnect' : 'connect', () => {
        isConnected = true
      })
    })
    outgoing.setTimeout(silenceMs, () => outgoing.destroy(new Error('it does not answer')))
    outgoing.on('error', error => reject(failureOf(error, isConnected, signal)))
    outgoing.on('response', message => resolve(replyOf(message, signal)))
    outgoing.end(body)
  })
}

/** An interruption by the user is not a connection failure. */
const failureOf = (error: Error, wasSent: boolean, { aborted }: AbortSignal): Error =>
  aborted ? error : new NoAnswer(reasonOf(error), wasSent)

function replyOf(message: IncomingMessage, signal: AbortSignal): ServiceReply {
  const headers = {
    get(name: string): string | null {
      const value = message.headers[name.toLowerCase()]
      return value === undefined ? null : [value].flat().join(', ')
    },
  }
  return { status: message.statusCode ?? 0, headers, content: contentOf(message, signal) }
}

async function* contentOf(message: IncomingMessage, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    yield* message
  } catch (error) {
    throw failureOf(error as Error, true, signal)
  }
}

const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing is listening there',
  ECONNRESET: 'the connection broke',
  EPIPE: 'the connection broke',
  ENOTFOUND: 'the host does not exist',
  EAI_AGAIN: 'the host name cannot be resolved',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no network',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is not trusted',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

function reasonOf(error: Error & { code?: string; errors?: readonly Error[] }): string {
  const [first] = error.errors ?? []
  if (first && first !== error) return reasonOf(first)
  return words[error.code ?? ''] ?? error.message
}

export async function readText(content: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}
