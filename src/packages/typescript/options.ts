/** What the client is made with. */
export interface AgentPayOptions {
  /** The address of the service: `https://pay.example.com`. Without it `AGENTPAY_URL` of the environment. */
  readonly url?: string | undefined
  /**
   * A key or an agent's token. Without it `AGENTPAY_KEY` of the environment. A token that an answer has not shown is null, and
   * no client is made with that.
   */
  readonly token?: string | null | undefined
  /** For whoever runs the installation. */
  readonly dashboardSecret?: string
  /** Sent with each call. */
  readonly headers?: Readonly<Record<string, string>>
  /** How long one attempt of a call may take, in milliseconds: a minute unless you say so. */
  readonly timeoutMs?: number
  /** How often a call is sent again after a broken connection, and how often an answer that says “later” is waited out. */
  readonly retries?: number
  /** In place of the `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch
}

/** What one call may have of its own. */
export interface CallOptions {
  /** Names the call, so that it has one effect however often it is sent. Each call that changes something gets one by itself. */
  readonly idempotencyKey?: string
  /** The run that the call belongs to. */
  readonly runId?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly timeoutMs?: number
  readonly retries?: number
  /** Cancels the call, or ends the stream. What was sent may have had its effect. */
  readonly signal?: AbortSignal
}

/** What waiting for a decision may have of its own; `timeoutMs` is for each time that it is asked. */
export interface WaitOptions extends Omit<CallOptions, 'idempotencyKey'> {
  /** How long to wait at most, in milliseconds: ten minutes unless you say so. */
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

/** Completes what was given. A key is sent over https only, or to this machine. */
export function settingsOf(options: AgentPayOptions): Settings {
  const { url = ENVIRONMENT.AGENTPAY_URL, dashboardSecret, headers = {} } = options
  // A key of the environment belongs to the address there, and is sent to no other.
  const isThere = options.url === undefined || options.url === ENVIRONMENT.AGENTPAY_URL
  if (options.token === null)
    throw new TypeError('The token is null: an answer shows it once, when it is made. Make another one.')
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
