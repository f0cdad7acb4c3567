/** What a handler may read of a request beside its input. */
export interface RawRequest {
  /** Those that the contract names. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** As it came; empty where the contract does not ask for it. */
  readonly body: Uint8Array
  /** The host and port at which the service was asked: its own ones, never those of the client's header. */
  readonly host: string
}
