import type { EncryptionKey } from '../values/encryption-key.ts'
import type { Euros } from '../values/money.ts'

/**
 * The processor that issues virtual cards and speaks with the card network; `adapters/card-processor` implements it.
 * Every call ends within seconds, with an answer or without. No handler ever holds a card number: the processor gives
 * data only encrypted to a key.
 */
export interface CardProcessor {
  readonly name: string
  /** Issues a card, once per reference, however often the call is repeated. A new card is inactive. */
  issue(card: NewCard, call: ProcessorCall): Promise<IssuedCard | ProcessorFailure>
  /** Makes the state of a number so, repeatably. A closed number is never active again. */
  setState(processorCardId: string, state: NumberState, call: ProcessorCall): Promise<Done | ProcessorFailure>
  /** Mirrors limits and controls, which the service itself enforces too. */
  setControls(
    processorCardId: string,
    controls: ProcessorControls,
    call: ProcessorCall,
  ): Promise<Done | ProcessorFailure>
  /** Issues another number for the same card, once per reference. The old number stays as it is. */
  replace(processorCardId: string, card: NewCard, call: ProcessorCall): Promise<IssuedCard | ProcessorFailure>
  /** Number, expiry and CVC as a compact JWE that only the recipient can read. */
  disclose(
    processorCardId: string,
    recipient: Recipient,
    call: ProcessorCall,
  ): Promise<Disclosure | ProcessorFailure>
  /** A network token and cryptogram as a compact JWE; null for a processor that has none. */
  readonly networkToken:
    | ((
        token: NewNetworkToken,
        recipient: Recipient,
        call: ProcessorCall,
      ) => Promise<IssuedNetworkToken | ProcessorFailure>)
    | null
  /** Suspends, resumes or deletes a network token; null for a processor that has none. */
  readonly setNetworkToken:
    | ((
        tokenId: string,
        state: 'active' | 'suspended' | 'deleted',
        call: ProcessorCall,
      ) => Promise<Done | ProcessorFailure>)
    | null
  /** Whether the headers are those of this processor's messages. Proves nothing. */
  recognizes(headers: MessageHeaders): boolean
  /** Verifies the signature over the raw bytes, then translates the message. */
  read(body: Uint8Array, headers: MessageHeaders, now: Date): ReadMessage
  /** Writes the answer to a message. The same arguments give the same bytes. */
  answer(message: CardMessage, reply: CardReply): ProcessorAnswer
  /** The simulator signs a message as the processor does; null for a real processor. */
  readonly sign: ((message: CardMessage) => SignedMessage) | null
}

export interface ProcessorCall {
  /** The idempotency key: the processor acts once on it. */
  readonly reference: string
  readonly requestId: string
  /** The tenant's present time, by which the simulator goes. */
  readonly now: Date
}

export interface NewCard {
  readonly cardId: string
  readonly ownerId: string
  readonly displayName: string
  /** When this number was asked for, the same in every repetition: the simulator counts the printed end from it. */
  readonly requestedAt: Date
  readonly holder: CardHolder
  readonly controls: ProcessorControls
}

/** The owner of the card, as the issuer must know it. */
export interface CardHolder {
  readonly name: string
  readonly email: string
  readonly type: 'individual' | 'business'
  /** Null while the customer has not given one: a real processor refuses and names it. */
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
  readonly maxTransactionEuros: Euros | null
  readonly dailyLimitEuros: Euros | null
  readonly monthlyLimitEuros: Euros | null
  readonly allowedCountries: readonly string[]
  readonly allowedMccs: readonly string[]
  readonly blockedMccs: readonly string[]
}

/** What may be known and stored of a number. */
export interface IssuedCard {
  readonly processorCardId: string
  readonly brand: string
  readonly last4: string
  readonly expMonth: number
  readonly expYear: number
}

export type NumberState = 'active' | 'inactive' | 'closed'

export interface Done {
  readonly done: true
}

/** `late`: no answer in time; `unusable`: an answer that cannot be read. Both may be tried again. `refused`: final. */
export type ProcessorFailure =
  | { readonly failure: 'late' | 'unusable' }
  | { readonly failure: 'refused'; readonly code: string; readonly message: string }

export const isFailure = <T extends object>(answer: T | ProcessorFailure): answer is ProcessorFailure =>
  'failure' in answer

/** Who may read disclosed data, and what the JWE is bound to: both stand in its protected header. */
export interface Recipient {
  readonly key: EncryptionKey
  readonly intentId: string | null
  readonly merchantHost: string | null
}

export interface Disclosure {
  readonly jwe: string
}

export interface NewNetworkToken {
  readonly processorCardId: string
  readonly expiresAt: Date
}

export interface IssuedNetworkToken extends Disclosure {
  readonly tokenId: string
  readonly last4: string
}

export type MessageHeaders = Readonly<Record<string, string | undefined>>

export type ReadMessage =
  | { readonly kind: 'message'; readonly message: CardMessage }
  /** Signed, and nothing that the service acts on. */
  | { readonly kind: 'ignored' }
  /** The signature is missing, wrong or too old. */
  | { readonly kind: 'unsigned'; readonly reason: string }
  /** Signed, and not to be understood: the field and what is wrong with it. */
  | { readonly kind: 'unreadable'; readonly reason: string }

export interface CardMessage {
  /** The processor's id of the message: the same message may come again. */
  readonly id: string
  readonly processorCardId: string
  readonly sentAt: Date
  readonly content: MessageContent
}

export interface CardMerchant {
  /** The descriptor, as the network sends it: `SQ *BOOKSHOP 1234 BERLIN`. */
  readonly descriptor: string
  readonly mcc: string | null
  readonly country: string | null
  /** The web address, where the network knows it. */
  readonly url: string | null
  /** The network token that paid, where one did. */
  readonly networkTokenId: string | null
}

/** A question: the network waits two seconds for the answer. Amounts are the processor's euros. */
export interface AuthorizationRequest {
  readonly kind: 'authorization'
  readonly authorizationId: string
  /** 0 = the first request of this authorization, 1 = its first increment, and so on. */
  readonly ask: number
  /** The amount asked for; for an increment the additional one. Zero only checks the card. */
  readonly amountEuros: Euros
  /** Whether less than the amount may be approved. */
  readonly partialAllowed: boolean
  readonly merchant: CardMerchant
}

/** Facts: they are booked, never refused. */
export type CardFact =
  /** Null = the whole authorization. */
  | { readonly kind: 'reversal'; readonly authorizationId: string; readonly amountEuros: Euros | null }
  | { readonly kind: 'expiry'; readonly authorizationId: string }
  | {
      readonly kind: 'clearing'
      readonly clearingId: string
      /** Null = cleared without an authorization. */
      readonly authorizationId: string | null
      readonly amountEuros: Euros
      /** The last clearing of its authorization. */
      readonly final: boolean
      readonly merchant: CardMerchant
    }
  | {
      readonly kind: 'refund'
      readonly refundId: string
      /** Null = linked to no payment. */
      readonly authorizationId: string | null
      readonly amountEuros: Euros
      readonly merchant: CardMerchant
    }
  /**
   * The processor's word about its answers to the network, which wins over ours: it may have decided in our place, or have
   * declined what we approved too late. `asks` begins with the first request; a longer list replaces a shorter one.
   */
  | {
      readonly kind: 'outcome'
      readonly authorizationId: string
      readonly asks: readonly { readonly amountEuros: Euros; readonly approved: boolean }[]
      readonly merchant: CardMerchant
    }

/** News about the card itself. */
export type CardNotice =
  | { readonly kind: 'number_closed'; readonly reason: string }
  | { readonly kind: 'shipped'; readonly carrier: string | null; readonly trackingNumber: string | null }
  | {
      readonly kind: 'mobile_wallet'
      readonly tokenId: string
      readonly wallet: 'apple_pay' | 'google_pay' | 'samsung_pay' | 'other'
      readonly status: 'requested' | 'active' | 'suspended' | 'deleted'
    }

export type MessageContent = AuthorizationRequest | CardFact | CardNotice

/** The reply to a request: what is approved of the amount. Every other message is only acknowledged. */
export type CardReply =
  | { readonly kind: 'approved'; readonly approvedEuros: Euros; readonly askedEuros: Euros }
  | { readonly kind: 'declined'; readonly reason: string }
  | { readonly kind: 'noted' }

export interface ProcessorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface SignedMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
