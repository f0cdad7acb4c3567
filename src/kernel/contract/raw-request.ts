export interface RawRequest {
  /** Only those that the contract names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** Raw bytes; empty where the contract does not ask for them. */
  readonly body: Uint8Array
  /**
   * The host and port at which the service was called: the service's own, never those of the client's `Host`
   * header.
   */
  readonly host: string
}
