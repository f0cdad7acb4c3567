export interface RawRequest {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Uint8Array
  /**
   * The host and port at which the service was called: the service's own, never those of the client's `Host`
   * header.
   */
  readonly host: string
}
