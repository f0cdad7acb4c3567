import type { ServerResponse } from 'node:http'
import type { AnyOperation } from '../../kernel/contract/operation.ts'
import type { Authenticator } from './authenticate.ts'
import type { CredentialWatch } from './credential-watch.ts'
import type { RequestCredentials } from './request-credentials.ts'

interface Endless {
  readonly gate: Authenticator
  readonly credentialWatch: CredentialWatch
  readonly stopping: AbortSignal
}

/** Ends an endless response when the client has left, the process stops, or the caller would be refused. */
export function streamEnding(
  response: ServerResponse,
  operation: AnyOperation,
  presented: RequestCredentials,
  { gate, credentialWatch, stopping }: Endless,
): AbortSignal {
  const ending = new AbortController()
  const end = () => ending.abort()
  const unwatch = credentialWatch.watch(presented, () => gate(operation, presented, 0), end)
  const cleanUp = () => {
    unwatch()
    stopping.removeEventListener('abort', end)
  }
  ending.signal.addEventListener('abort', cleanUp, { once: true })
  response.once('close', end)
  stopping.addEventListener('abort', end, { once: true })
  if (stopping.aborted || response.destroyed) end()
  return ending.signal
}

/** Aborted when the client has closed its connection before the end of the answer. */
export function goneSignal(response: ServerResponse): AbortSignal {
  const gone = new AbortController()
  // Nothing waits once the answer has ended. To abort takes a fifth of what a quick request takes.
  const leave = () => response.writableFinished || gone.abort()
  if (response.destroyed) leave()
  else response.once('close', leave)
  return gone.signal
}

/** An open page repeats its requests by itself, and these must not extend a person's session. */
export const asBackgroundRequest = ({ browser, ...presented }: RequestCredentials): RequestCredentials =>
  browser ? { ...presented, browser: { ...browser, isBackground: true } } : presented
