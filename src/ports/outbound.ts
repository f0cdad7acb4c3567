/** A request to an address that somebody else chose. */
export interface OutboundRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /**
   * The headers of a second try, where there may be one: on a new connection, when one that was kept open broke before
   * the answer began. Without it the first try is the only one.
   */
  readonly again?: () => Readonly<Record<string, string>>
  /** Until the whole answer is there: milliseconds. */
  readonly timeoutMs: number
  /** How much of the answer is read: bytes; what comes after is not waited for. */
  readonly maxBytes: number
}

/** What became of it. That the address is refused, or the other side unreachable, is an answer too. */
export type OutboundAnswer =
  | {
      readonly kind: 'answered'
      /** As it came: a redirect is not followed. */
      readonly status: number
      /** Their names in lower case; one that came several times is joined by commas. */
      readonly headers: Readonly<Record<string, string>>
      /** As it came: what is compressed stays so. */
      readonly body: Uint8Array
      /** Whether there was more than `maxBytes`. */
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

/** Which rule an address breaks, and what to do about it. */
export interface RefusedAddress {
  readonly rule: string
  readonly message: string
}

/** The one way out to addresses that others chose. A call makes one request, and a second one only by `again`. */
export interface Outbound {
  /** Why this address would be refused, as far as it can be told without asking the network. */
  judge(url: string): RefusedAddress | undefined
  send(request: OutboundRequest): Promise<OutboundAnswer>
}
