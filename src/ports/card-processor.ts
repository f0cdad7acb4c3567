import type { EncryptionKey } from '../values/encryption-key.ts'
import type { Cents } from '../values/money.ts'
import type { CardDisputes } from './card-disputes.ts'
import type {
  CardMerchant,
  CardMessage,
  CardMessageHeaders,
  CardReply,
  ParsedCardMessage,
  ProcessorAnswer,
  SignedCardMessage,
} from './card-messages.ts'
import type { ProcessorCall, ProcessorCallDone, ProcessorFailure } from './processor-call.ts'

export type * from './card-disputes.ts'
export * from './card-messages.ts'

export * from './processor-call.ts'

/**
 * Issues virtual cards and connects to the card network; `adapters/card-processor` implements it. Every call
 * ends within seconds, with or without an answer. No handler ever holds a card number: the processor gives
 * data only encrypted to a key.
 */
export interface CardProcessor {
  readonly name: string
  /** Issues a card, once per reference. A new card is inactive. */
  issue(card: NewCard, call: ProcessorCall): Promise<IssuedCard | ProcessorFailure>
  /** May be repeated. A closed number is never active again. */
  setState(
    processorCardId: string,
    state: CardNumberState,
    call: ProcessorCall,
  ): Promise<ProcessorCallDone | ProcessorFailure>
  /** Mirrors limits and controls, which the service itself enforces too. */
  setControls(
    processorCardId: string,
    controls: ProcessorControls,
    call: ProcessorCall,
  ): Promise<ProcessorCallDone | ProcessorFailure>
  /** Issues another number for the same card, once per reference. The old number stays as it is. */
  replace(processorCardId: string, card: NewCard, call: ProcessorCall): Promise<IssuedCard | ProcessorFailure>
  disclose(
    processorCardId: string,
    recipient: DisclosureRecipient,
    call: ProcessorCall,
  ): Promise<EncryptedDisclosure | ProcessorFailure>
  /**
   * A short-lived key with which the processor's own elements show a card in the browser that made the nonce;
   * null for a processor without such elements.
   */
  readonly ephemeralKey:
    | ((
        processorCardId: string,
        nonce: string,
        call: ProcessorCall,
      ) => Promise<EphemeralKey | ProcessorFailure>)
    | null
  /**
   * The networks of its cards, as the machine payments protocol names them; null for a processor without
   * network tokens.
   */
  readonly tokenNetworks: readonly string[] | null
  /** A network token and cryptogram as a compact JWE; null for a processor without network tokens. */
  readonly networkToken:
    | ((
        token: NewNetworkToken,
        recipient: DisclosureRecipient,
        call: ProcessorCall,
      ) => Promise<IssuedNetworkToken | ProcessorFailure>)
    | null
  /** Suspends, resumes or deletes a network token; null for a processor without network tokens. */
  readonly setNetworkToken:
    | ((
        tokenId: string,
        state: 'active' | 'suspended' | 'deleted',
        call: ProcessorCall,
      ) => Promise<ProcessorCallDone | ProcessorFailure>)
    | null
  /** Null for a processor whose cards cannot pay by the method `stripe` of machine payments. */
  readonly sharedTokens: SharedPaymentTokens | null
  /** Requests a refund from a merchant; null for a processor that cannot: then the owner asks the merchant. */
  readonly pushRefund: PushCardRefund | null
  readonly disputes: CardDisputes
  /** Whether the headers look like those of this processor's messages. Proves nothing. */
  recognizes(headers: CardMessageHeaders): boolean
  /** Verifies the signature over the raw bytes, then translates the message. */
  read(body: Uint8Array, headers: CardMessageHeaders, now: Date): ParsedCardMessage
  /** The same arguments give the same bytes. */
  answer(message: CardMessage, reply: CardReply): ProcessorAnswer
  /** Signs a message as the simulator's network; null for a real processor. */
  readonly sign: ((message: CardMessage) => SignedCardMessage) | null
  /** Reads the answer to a simulated message; null for a real processor. */
  readonly replyIn: ((answer: ProcessorAnswer) => CardReply) | null
}

export interface NewCard {
  readonly cardId: string
  readonly ownerId: string
  readonly displayName: string
  /**
   * When this number was requested, the same in every repetition: the simulator computes the printed expiry
   * from it.
   */
  readonly requestedAt: Date
  readonly holder: CardHolder
  readonly controls: ProcessorControls
}

export interface CardHolder {
  readonly name: string
  readonly email: string
  readonly type: 'individual' | 'business'
  /** E.164. Null until the customer gives one: EU cards need it for 3-D Secure. */
  readonly phone: string | null
  /** Null until the customer gives one: a real processor refuses without it. */
  readonly address: PostalAddress | null
}

export interface PostalAddress {
  readonly line1: string
  readonly line2: string | null
  readonly city: string
  readonly postalCode: string
  readonly country: string
}

export interface ProcessorControls {
  readonly maxTransactionCents: Cents | null
  readonly dailyLimitCents: Cents | null
  readonly monthlyLimitCents: Cents | null
  readonly allowedCountries: readonly string[]
  readonly allowedMccs: readonly string[]
  readonly blockedMccs: readonly string[]
}

export interface IssuedCard {
  readonly processorCardId: string
  readonly brand: string
  readonly last4: string
  readonly expMonth: number
  readonly expYear: number
}

export type CardNumberState = 'active' | 'inactive' | 'closed'

/** Who may read disclosed data, and what the JWE is bound to: both are in its protected header. */
export interface DisclosureRecipient {
  readonly key: EncryptionKey
  readonly intentId: string | null
  readonly merchantHost: string | null
}

export interface EncryptedDisclosure {
  readonly jwe: string
}

/** The secret gives access to the card's data with the nonce: it is passed on and never kept. */
export interface EphemeralKey {
  readonly secret: string
  readonly expiresAt: Date
}

interface NewNetworkToken {
  readonly processorCardId: string
  readonly expiresAt: Date
  /** If left out: number, expiry and cryptogram with a header of the service's own. */
  readonly form?: MachinePaymentBinding
}

/** The token in the form of the machine payments protocol's method `card`, for one payment. */
export interface MachinePaymentBinding {
  readonly kind: 'mpp'
  readonly kid: string
  /** The payment that the token is bound to, encrypted with the token. */
  readonly binding: {
    readonly challengeId: string
    readonly intentId: string
    readonly cardId: string
  }
}

export interface IssuedNetworkToken extends EncryptedDisclosure {
  readonly tokenId: string
  readonly last4: string
  readonly network: string
  readonly expMonth: number
  readonly expYear: number
}

/** Shared payment tokens: each lets one seller charge a card, up to an amount and until a time. */
export interface SharedPaymentTokens {
  /** Creates a token, once per reference: a repeated call with the same order answers with the same token. */
  create(order: SharedTokenOrder, call: ProcessorCall): Promise<SharedToken | ProcessorFailure>
  /** What has become of a token. */
  stateOf(tokenId: string, call: ProcessorCall): Promise<SharedTokenState | ProcessorFailure>
  /** May be repeated. A token that has been used up or has expired counts as revoked. */
  revoke(tokenId: string, call: ProcessorCall): Promise<ProcessorCallDone | ProcessorFailure>
}

/** Plain JSON, since it is stored to find a token again. */
export interface SharedTokenOrder {
  readonly processorCardId: string
  /** The seller's Stripe profile. */
  readonly seller: string
  /** In the smallest unit of the currency. */
  readonly amount: string
  /** ISO 4217 in lower case. */
  readonly currency: string
  readonly expiresAt: string
  /** Where a person returns who has confirmed the payment. Orders of earlier versions have none. */
  readonly returnUrl?: string
}

export interface SharedTokenAction {
  readonly type: 'redirect'
  readonly url: string
}

/**
 * `requires_action`: it cannot be charged before a person has confirmed the payment at a page; null if the processor
 * names none. `ended`: it can no longer be charged.
 */
export type SharedTokenState =
  | { readonly status: 'active' }
  | { readonly status: 'ended' }
  | { readonly status: 'requires_action'; readonly action: SharedTokenAction | null }

export interface SharedToken {
  readonly tokenId: string
  /** The last digits of the card. */
  readonly last4: string
  readonly state: SharedTokenState
}

export interface NewCardRefund {
  readonly processorCardId: string
  readonly authorizationId: string
  readonly amountCents: Cents
  readonly merchant: CardMerchant
  readonly requestedAt: Date
}

/**
 * `asked`: the merchant has been asked, and its credit comes as a message. `declined`: the merchant will not
 * refund.
 */
export type CardRefundOutcome =
  | { readonly status: 'asked' }
  | { readonly status: 'declined'; readonly message: string }

/** Asks the merchant through the network, once per reference: a repeated call answers with the outcome of the first. */
export type PushCardRefund = (
  refund: NewCardRefund,
  call: ProcessorCall,
) => Promise<CardRefundOutcome | ProcessorFailure>
