/** A request to a URL that a customer chose. */
export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
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
}

/** The outcome of a request. A refused address and an unreachable host are outcomes, too, not errors. */
export type OutboundAnswer =
  | {
      readonly kind: 'answered'
      /** The status as received: redirects are not followed. */
      readonly status: number
      /** Names in lower case; repeated headers are joined by commas. */
      readonly headers: Readonly<Record<string, string>>
      /** The body as received: compressed bodies are not decompressed. */
      readonly body: Uint8Array
      /** Whether the body was longer than `maxBytes`. */
      readonly cut: boolean
      readonly latencyMs: number
    }
  | ({ readonly kind: 'refused' } & RefusedAddress)
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
  judge(url: string): RefusedAddress | undefined
  send(request: OutboundRequest): Promise<OutboundAnswer>
}
