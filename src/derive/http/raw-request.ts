import type { IncomingMessage } from 'node:http'
import { type AnyOperation, readsRequest } from '../../kernel/contract/operation.ts'
import type { RawRequest } from '../../kernel/contract/raw-request.ts'

/** The host and port at which a request asks the service. */
export type HostOf = (request: IncomingMessage) => string

/**
 * Believes what the client wrote where it is an address of ours, as it may be behind a proxy: anybody can write anything
 * into `Host`. Everything else counts as sent to the first address.
 */
export const hostAmong =
  (ownHosts: () => readonly [string, ...string[]]): HostOf =>
  ({ headers }) => {
    const asked = headers.host?.toLowerCase().replace(/:(80|443)$/, '')
    const own = ownHosts()
    return own.find(host => host === headers.host?.toLowerCase() || host === asked) ?? own[0]
  }

/** What the contract lets the handler read; undefined where it is the input alone. */
export function rawRequestOf(
  operation: AnyOperation,
  request: IncomingMessage,
  bytes: Uint8Array,
  hostOf: HostOf,
): RawRequest | undefined {
  if (!readsRequest(operation)) return undefined
  const { reads = {}, rawBody } = operation
  const headers = Object.fromEntries(
    Object.keys(reads).map(name => {
      const value = request.headers[name]
      return [name, Array.isArray(value) ? value.join(', ') : value]
    }),
  )
  return { headers, body: rawBody ? bytes : new Uint8Array(), host: hostOf(request) }
}
