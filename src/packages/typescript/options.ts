import { checkOptions, clientOptions } from './known-options.ts'

/** Options of the client. */
export interface AgentPayOptions {
  /** The address of the service: `https://pay.example.com`. Default: `AGENTPAY_URL` of the environment. */
  readonly url?: string | undefined
  /**
   * An API key or an agent token. Default: `AGENTPAY_KEY` of the environment. Null, as in an answer that does
   * not show the token, is an error, and so is undefined.
   */
  readonly token?: string | null | undefined
  /** For operators of an installation. */
  readonly dashboardSecret?: string
  /** Sent with each call. */
  readonly headers?: Readonly<Record<string, string>>
  /** Timeout of one attempt in milliseconds. Default: a minute. */
  readonly timeoutMs?: number
  /** How often a call is repeated after a broken connection, and how often after an answer with `Retry-After`. */
  readonly retries?: number
  /** Replaces the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch
}

/** Options of one call. */
export interface CallOptions {
  /**
   * A call with a key has one effect however often it is sent. Each call that changes something gets a key
   * automatically.
   */
  readonly idempotencyKey?: string
  /** The run that the call belongs to. */
  readonly runId?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly retries?: number
  /** Cancels the call, or ends the stream. A call that was sent may have had its effect. */
  readonly signal?: AbortSignal
}

/** Options of a call that is answered at once, while what it asks for goes on: the record has its outcome. */
export interface AsyncCallOptions extends CallOptions {
  readonly wait: false
}

/** Options of waiting for a record; `timeoutMs` is for each attempt. */
export interface WaitOptions extends Omit<CallOptions, 'idempotencyKey' | 'retries'> {
  /** How long to wait at most, in milliseconds. Default: ten minutes. */
  readonly withinMs?: number
}

const ENVIRONMENT: Readonly<Record<string, string | undefined>> =
  (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env ?? {}

export interface Settings {
  readonly url: string
  readonly token?: string
  readonly dashboardSecret?: string
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly retries: number
  readonly fetch: typeof globalThis.fetch
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** Adds defaults. A credential is sent by https only, or to this machine. */
export function settingsOf(options: AgentPayOptions): Settings {
  checkOptions('AgentPay', options, clientOptions)
  if (options.token === null)
    throw new TypeError('The token is null: an answer shows it once, when it is made. Make another one.')
  // As of a misspelled member: the environment's key would pay in place of the one that was meant.
  if ('token' in options && options.token === undefined)
    throw new TypeError('The token is undefined: leave it out to use AGENTPAY_KEY.')
  const { url = ENVIRONMENT.AGENTPAY_URL, dashboardSecret, headers = {} } = options
  // A key of the environment belongs to the address there, and is sent to no other.
  const isThere = options.url === undefined || options.url === ENVIRONMENT.AGENTPAY_URL
  const token = options.token ?? (isThere ? ENVIRONMENT.AGENTPAY_KEY : undefined)
  if (!url) throw new TypeError('Say where the service is: url, or AGENTPAY_URL in the environment.')
  const { protocol, hostname } = new URL(url)
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.test(hostname)))
    throw new TypeError(`${url} is not encrypted, and a key is not sent there: use https.`)
  return {
    url,
    ...(token === undefined ? {} : { token }),
    ...(dashboardSecret === undefined ? {} : { dashboardSecret }),
    headers,
    timeoutMs: options.timeoutMs ?? 60_000,
    retries: options.retries ?? 3,
    fetch: options.fetch ?? globalThis.fetch.bind(globalThis),
  }
}
