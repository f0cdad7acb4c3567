export interface RelyingParty {
  readonly id: string
  readonly name: string
  readonly origin: string
  /** All origins whose pages may use the passkeys, the service's own first. */
  readonly origins: readonly [string, ...string[]]
  readonly unavailable: string | null
}
