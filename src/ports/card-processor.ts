import type { EncryptionKey } from '../values/encryption-key.ts'
import type { Cents } from '../values/money.ts'
import type { CardDisputes } from './card-disputes.ts'
import type {
  CardMerchant,
  CardMessage,
  CardReply,
  MessageHeaders,
  ProcessorAnswer,
  ReadMessage,
  SignedMessage,
} from './card-messages.ts'
import type { Done, ProcessorCall, ProcessorFailure } from './processor-call.ts'

export type * from './card-disputes.ts'
export type * from './card-messages.ts'

export * from './processor-call.ts'

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
  /**
   * A short-lived key with which the processor's own elements show a card in the browser that made the nonce; null for a
   * processor without such elements.
   */
  readonly ephemeralKey:
    | ((
        processorCardId: string,
        nonce: string,
        call: ProcessorCall,
      ) => Promise<EphemeralKey | ProcessorFailure>)
    | null
  /** The networks of its cards, in the words of the machine payments protocol; null for a processor without network tokens. */
  readonly tokenNetworks: readonly string[] | null
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
  /** Asks a merchant for money back; null for a processor that cannot: then the owner asks. */
  readonly pushRefund: PushRefund | null
  /** Disputes of payments by its cards. */
  readonly disputes: CardDisputes
  /** Whether the headers are those of this processor's messages. Proves nothing. */
  recognizes(headers: MessageHeaders): boolean
  /** Verifies the signature over the raw bytes, then translates the message. */
  read(body: Uint8Array, headers: MessageHeaders, now: Date): ReadMessage
  /** Writes the answer to a message. The same arguments give the same bytes. */
  answer(message: CardMessage, reply: CardReply): ProcessorAnswer
  /** The simulator signs a message as the processor does; null for a real processor. */
  readonly sign: ((message: CardMessage) => SignedMessage) | null
  /** The simulator reads the answer to a message of its own; null for a real processor. */
  readonly replyIn: ((answer: ProcessorAnswer) => CardReply) | null
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
  /** E.164. Null while the customer has not given one: cards of the EU need it for 3-D Secure. */
  readonly phone: string | null
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
  readonly maxTransactionCents: Cents | null
  readonly dailyLimitCents: Cents | null
  readonly monthlyLimitCents: Cents | null
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

/** Who may read disclosed data, and what the JWE is bound to: both stand in its protected header. */
export interface Recipient {
  readonly key: EncryptionKey
  readonly intentId: string | null
  readonly merchantHost: string | null
}

export interface Disclosure {
  readonly jwe: string
}

/** The secret opens the card's data to whoever holds the nonce: it is given on and never kept. */
export interface EphemeralKey {
  readonly secret: string
  readonly expiresAt: Date
}

interface NewNetworkToken {
  readonly processorCardId: string
  readonly expiresAt: Date
  /** Left out: number, expiry and cryptogram with a header of ours. */
  readonly form?: MachinePaymentForm
}

/** The token as the payment method `card` of the machine payments protocol wants it, for one payment. */
export interface MachinePaymentForm {
  readonly kind: 'mpp'
  /** The merchant's name of its key, which stands in the header of the JWE. */
  readonly kid: string
  /** The payment that the token is for: it stands beside the token. */
  readonly binding: {
    readonly challengeId: string
    readonly intentId: string
    readonly cardId: string
  }
}

export interface IssuedNetworkToken extends Disclosure {
  readonly tokenId: string
  readonly last4: string
  readonly network: string
  readonly expMonth: number
  readonly expYear: number
}

/** Money of a cleared payment that the merchant is to send back. */
export interface NewCardRefund {
  readonly processorCardId: string
  /** The network's id of the payment. */
  readonly authorizationId: string
  readonly amountCents: Cents
  readonly merchant: CardMerchant
  /** When it was asked for first. */
  readonly requestedAt: Date
}

/** `asked`: the merchant knows of it, and its credit comes as a message. `declined`: it will not send the money. */
export type CardRefundOutcome =
  | { readonly status: 'asked' }
  | { readonly status: 'declined'; readonly message: string }

/**
 * Asks the merchant through the network, once per reference, however often the call is repeated: a repeated one answers what
 * became of the first.
 */
export type PushRefund = (
  refund: NewCardRefund,
  call: ProcessorCall,
) => Promise<CardRefundOutcome | ProcessorFailure>
