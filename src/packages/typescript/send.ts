import { buildApiRequest, type CallInput } from '../../derive/call.ts'
import { formDataFromBody } from '../../derive/form.ts'
import { NoAnswer, type RetryPolicy, withRetries } from '../../derive/retry.ts'
import { linkedChallengeId } from '../../values/challenge-link.ts'
import { clock } from '../../values/system-clock.ts'
import type { Operation } from './operation.ts'
import type { AsyncCallOptions, CallOptions, Settings } from './options.ts'
import { Refused } from './refused.ts'

interface Random {
  getRandomValues(bytes: Uint8Array): Uint8Array
}

let random: Random | undefined = (globalThis as { crypto?: Random }).crypto

/** Node 18 has the random source in a module, which browsers do not load. */
async function newKey(): Promise<string> {
  if (!random) {
    const name = 'node:crypto'
    random = ((await import(name)) as { readonly webcrypto: Random }).webcrypto
  }
  const bytes = random.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}

export interface Call {
  readonly operation: Operation
  readonly params: Readonly<Record<string, string>>
  readonly input: Readonly<Record<string, unknown>> | undefined
  readonly options: CallOptions | AsyncCallOptions
}

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly response: Response
  readonly text: string
}

const PAUSES = [200, 500, 1_000, 2_000, 4_000]
const LONGEST_WAIT_S = 60

export async function send(settings: Settings, call: Call): Promise<Reply> {
  const { operation, options } = call
  const key = operation.takesKey ? (options.idempotencyKey ?? (await newKey())) : undefined
  const { url, ...request } = requestFor(settings, call, key)
  const reply = await withRetries(() => attempt(settings, call, url, request), {
    isRepeatable: operation.isRepeatable || key !== undefined,
    patience: patienceFor(options.retries ?? settings.retries),
    drain: async () => undefined,
    wait: milliseconds => pause(milliseconds, options.signal),
  })
  // The service never redirects: a redirection would carry the key elsewhere.
  if (!reply.response.ok) throw refusalOf(operation.key, reply)
  return reply
}

const patienceFor = (retries: number): RetryPolicy => ({
  pauses: PAUSES.slice(0, retries),
  maxWaits: retries,
  maxWaitSeconds: LONGEST_WAIT_S,
})

function requestFor(
  settings: Settings,
  { operation, params, input, options }: Call,
  key: string | undefined,
): { readonly url: string } & RequestInit {
  const form = operation.input === 'body' ? formDataFromBody(input) : undefined
  const { runId, headers } = options
  const isAsync = 'wait' in options && options.wait === false
  if (isAsync && !operation.mayGoOn)
    throw new TypeError(`${operation.key} always waits for its outcome: leave out wait`)
  const given: CallInput = {
    params,
    ...(input === undefined || form || operation.input === undefined ? {} : { [operation.input]: input }),
    ...(key === undefined ? {} : { idempotencyKey: key }),
    headers: {
      ...(operation.isCsv ? { accept: 'text/csv' } : {}),
      ...headers,
      ...(runId === undefined ? {} : { 'x-run-id': runId }),
      ...(isAsync ? { prefer: 'respond-async' } : {}),
    },
  }
  const request = buildApiRequest(settings, operation, given)
  return form ? { ...request, body: form } : request
}

/** One attempt. Reading the body is part of it: a connection that breaks meanwhile is tried again. */
async function attempt(
  settings: Settings,
  { operation, options }: Call,
  url: string,
  request: RequestInit,
): Promise<Reply> {
  const ending = new AbortController()
  const { signal } = options
  const abort = (): void => ending.abort(signal?.reason)
  if (signal?.aborted) abort()
  signal?.addEventListener('abort', abort)
  const timeoutMs = options.timeoutMs ?? settings.timeoutMs
  const stopAlarm = clock.alarm(timeoutMs, () => ending.abort(new Error(`no answer within ${timeoutMs} ms`)))
  let isOpen = false
  try {
    const response = await settings.fetch(url, { ...request, redirect: 'manual', signal: ending.signal })
    isOpen = response.ok && operation.answers !== 'json' && operation.answers !== 'list'
    const { status, headers } = response
    return { status, headers, response, text: isOpen ? '' : await response.text() }
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    throw new NoAnswer(`${operation.key}: ${reasonOf(error)}`, true, error)
  } finally {
    stopAlarm()
    // A body that is read later can be cancelled until it ends.
    if (!isOpen) signal?.removeEventListener('abort', abort)
  }
}

const reasonOf = (error: unknown): string => {
  const { message, cause } = error as Error
  return cause instanceof Error && cause.message !== '' ? cause.message : message
}

function refusalOf(operation: string, { status, headers, text }: Reply): Error {
  const code = headers.get('x-error-code')
  const requestId = headers.get('x-request-id')
  if (code === null)
    return new NoAnswer(`${operation}: the status ${status} came from something before the service`, true)
  const challengeId = linkedChallengeId(headers.get('link')) ?? null
  return new Refused(operation, { status, code, message: sentenceIn(text) ?? code, requestId, challengeId })
}

function sentenceIn(text: string): string | undefined {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown }
    return typeof error === 'string' ? error : undefined
  } catch {
    return undefined
  }
}

export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stopAlarm = clock.alarm(milliseconds, () => {
      signal?.removeEventListener('abort', end)
      resolve()
    })
    const end = (): void => {
      stopAlarm()
      reject(signal?.reason)
    }
    signal?.addEventListener('abort', end, { once: true })
  })
}
