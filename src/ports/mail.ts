export interface MailMessage {
  /** One address, without a name. */
  readonly to: string
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The same for each attempt at a message, so that mailboxes show one. Without the brackets and the domain. */
  readonly id: string
}

export type MailOutcome =
  | { readonly kind: 'accepted' }
  /** `isFinal`: the server refuses this message or address, and another attempt is useless. */
  | { readonly kind: 'failed'; readonly message: string; readonly isFinal: boolean }

/** Hands messages to the operator's mail server. An error of the server is an outcome. */
export interface Mail {
  send(message: MailMessage): Promise<MailOutcome>
}
