/** The WebAuthn relying party: the site that passkeys belong to. */
export interface RelyingParty {
  /** The host of the service's pages. */
  readonly id: string
  /** As devices show it. */
  readonly name: string
  /** The origin of the service's pages. */
  readonly origin: string
  /** All origins whose pages may use the passkeys, the service's own first. */
  readonly origins: readonly [string, ...string[]]
  /** Why passkeys cannot exist under this address; null if they can. */
  readonly unavailable: string | null
}
