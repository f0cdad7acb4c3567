/** A request to a URL that a customer chose. */
export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /**
   * The headers of a second attempt, made on a new connection when a reused one broke before the answer began. Without
   * this function there is no second attempt.
   */
  readonly again?: () => Readonly<Record<string, string>>
  /** The time for the whole answer, in milliseconds. */
  readonly timeoutMs: number
  /** How many bytes of the answer are read; the rest is discarded. */
  readonly maxBytes: number
  /**
   * How many requests with this member may be under way to the origin at once, in this process: beyond them the answer is
   * `busy`. Without it none is turned away.
   */
  readonly atOnce?: number
  /** Opens the paths of our own listener that take machine payments. Only what is done in test mode may ask for it. */
  readonly ownListener?: boolean
}

/** The outcome of a request. A refused address and an unreachable host are outcomes, too, not errors. */
export type OutboundAnswer =
  | {
      readonly kind: 'answered'
      /** The status as received: redirects are not followed. */
      readonly status: number
      /** Names in lower case; repeated headers are joined by commas. */
      readonly headers: Readonly<Record<string, string>>
      /** Names in lower case; each header as often as it came. */
      readonly headerLists: Readonly<Record<string, readonly string[]>>
      /** The body as received: compressed bodies are not decompressed. */
      readonly body: Uint8Array
      /** Whether the body was longer than `maxBytes`. */
      readonly cut: boolean
      readonly latencyMs: number
    }
  | ({ readonly kind: 'refused' } & RefusedAddress)
  | { readonly kind: 'busy'; readonly message: string }
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly timedOut: boolean
      readonly latencyMs: number
    }

/** The rule that an address breaks, and what to do about it. */
export interface RefusedAddress {
  readonly rule: string
  readonly message: string
}

/** The HTTP client for URLs that customers chose. A call makes one request, and a second one only by `again`. */
export interface Outbound {
  /** Why this URL would be refused, as far as can be told without a DNS lookup. */
  judge(url: string, options?: Pick<OutboundRequest, 'ownListener'>): RefusedAddress | undefined
  /** Whether only the operator has opened an address, or it is our own listener's: no other is reached by plain http. */
  isOpened(url: string): boolean
  send(request: OutboundRequest): Promise<OutboundAnswer>
}
