/** Whom passkeys belong to (WebAuthn): the site under whose name devices keep them. */
export interface RelyingParty {
  /** The host of our pages. */
  readonly id: string
  /** As devices show it. */
  readonly name: string
  /** The origin of our pages. */
  readonly origin: string
  /** All origins whose pages may use the passkeys, ours first. */
  readonly origins: readonly [string, ...string[]]
  /** Why passkeys cannot exist under this address, or null where they can. */
  readonly unavailable: string | null
}
