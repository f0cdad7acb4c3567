export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /**
   * The headers of a second attempt, made on a new connection when a reused one broke before the answer
   * began. Without this function there is no second attempt.
   */
  readonly retryHeaders?: () => Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly maxBytes: number
  /** Without it there is no limit. */
  readonly maxConcurrent?: OwnerConcurrency
  /** Allows the paths of this service's own listener that take machine payments. Only for test mode. */
  readonly ownListener?: boolean
}

/** The most concurrent requests of an owner to an origin, in this process: beyond that the answer is `busy`. */
export interface OwnerConcurrency {
  readonly ownerId: string
  readonly most: number
}

/** Refused addresses and unreachable hosts are outcomes, too, not errors. */
export type OutboundAnswer =
  | {
      readonly kind: 'answered'
      /** As received: redirects are not followed. */
      readonly status: number
      /** Names in lower case; repeated headers are joined by commas. */
      readonly headers: Readonly<Record<string, string>>
      /** Names in lower case; one value per occurrence of the header. */
      readonly headerLists: Readonly<Record<string, readonly string[]>>
      /** As received: compressed bodies are not decompressed. */
      readonly body: Uint8Array
      readonly cut: boolean
      readonly latencyMs: number
    }
  | ({ readonly kind: 'refused' } & RefusedOutboundAddress)
  | { readonly kind: 'busy'; readonly message: string }
  | {
      readonly kind: 'failed'
      readonly message: string
      readonly timedOut: boolean
      readonly latencyMs: number
    }

export interface RefusedOutboundAddress {
  readonly rule: string
  readonly message: string
}

/** The HTTP client for URLs that customers chose. A call makes one request, and a second one only by `retryHeaders`. */
export interface OutboundHttp {
  judge(url: string, options?: Pick<OutboundRequest, 'ownListener'>): RefusedOutboundAddress | undefined
  /**
   * Whether the operator has allowed the address, or it is the service's own listener: only these are reached
   * by plain http.
   */
  isAllowed(url: string): boolean
  send(request: OutboundRequest): Promise<OutboundAnswer>
}
