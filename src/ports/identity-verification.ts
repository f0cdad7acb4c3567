import type { PostalAddress } from './card-processor.ts'

/**
 * Verifies the identity of persons; `adapters/identity-verification` implements it. Every call ends within
 * seconds, with or without an answer. There is one per installation: a person verified by a test key may make
 * live keys.
 */
export interface IdentityVerification {
  readonly name: string
  /** Who decides. The process waits for operators; the installation verifies its one customer at once. */
  readonly decider: IdentityDecider
  /** Whether the service passes documents on; otherwise the person gives them to the provider, at its page. */
  readonly takesDocuments: boolean
  /** The provider's page for a person; null if it has none. */
  readonly page: IdentityPage | null
  /** Erases what the provider has collected; null if it keeps nothing. May be repeated. */
  readonly redact: ((reference: string) => Promise<'redacted' | UnansweredIdentityCheck>) | null
  submit(check: IdentityCheck, call: IdentityCall): Promise<IdentityCheckStatus | UnansweredIdentityCheck>
  inquire(check: IdentityCheck, call: IdentityCall): Promise<IdentityCheckStatus | UnansweredIdentityCheck>
  /** Whether the headers look like those of this provider's notices. Proves nothing. */
  recognizes(headers: IdentityNoticeHeaders): boolean
  /** Verifies the signature over the raw bytes, then reads the notice. */
  read(body: Uint8Array, headers: IdentityNoticeHeaders, now: Date): ParsedIdentityNotice
}

/** A new address of the page at each call, which works once; null once there is nothing left to give. */
type IdentityPage = (
  check: IdentityCheck,
  call: IdentityCall,
) => Promise<{ readonly url: string | null } | UnansweredIdentityCheck>

export const identityDeciders = ['provider', 'operator', 'installation'] as const
export type IdentityDecider = (typeof identityDeciders)[number]

export type IdentityNoticeHeaders = Readonly<Record<string, string | undefined>>

export interface IdentityCheck {
  readonly reference: string
  readonly submittedAt: Date
  readonly person: CheckedPerson
  readonly documents: readonly CheckedDocument[]
}

export interface CheckedPerson {
  readonly name: string
  readonly dateOfBirth: string
  readonly nationality: string
  readonly address: PostalAddress
}

export const identityDocumentKinds = [
  'passport',
  'identity_card_front',
  'identity_card_back',
  'proof_of_address',
  'register_extract',
] as const
export type IdentityDocumentKind = (typeof identityDocumentKinds)[number]

export interface CheckedDocument {
  readonly kind: IdentityDocumentKind
  readonly type: string
  readonly bytes: () => Promise<Uint8Array>
}

export interface IdentityCall {
  readonly requestId: string
  /** Where the person returns from the provider's page. */
  readonly returnUrl: string
  readonly now: Date
}

export const identityRejectionCodes = [
  'document_unreadable',
  'document_expired',
  'document_not_accepted',
  'data_mismatch',
  'person_refused',
  'other',
] as const
export type IdentityRejectionCode = (typeof identityRejectionCodes)[number]

export type FinalIdentityStatus =
  | { readonly status: 'verified' }
  | { readonly status: 'rejected'; readonly code: IdentityRejectionCode }

export type IdentityCheckStatus =
  | FinalIdentityStatus
  /** `expectedAt`: when the provider expects to be done; it is asked then. */
  | { readonly status: 'in_review'; readonly expectedAt?: Date }
  /** The provider has no check with this reference: it is submitted again. */
  | { readonly status: 'unknown' }

export type UnansweredIdentityCheck = 'late' | 'unusable'

export const isUnansweredIdentityCheck = (
  answer: IdentityCheckStatus | UnansweredIdentityCheck,
): answer is UnansweredIdentityCheck => typeof answer === 'string'

export interface IdentityNotice {
  readonly reference: string
  /** `changed`: the provider is asked what its decision is. */
  readonly status: FinalIdentityStatus | { readonly status: 'in_review' } | { readonly status: 'changed' }
}

export type ParsedIdentityNotice =
  | { readonly kind: 'notice'; readonly notice: IdentityNotice }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'unsigned'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string }
