import type { Cents } from '../values/money.ts'
import type { OriginalAmount } from '../values/original-amount.ts'

export type CardMessageHeaders = Readonly<Record<string, string | undefined>>

export type ParsedCardMessage =
  | { readonly kind: 'message'; readonly message: CardMessage }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'unsigned'; readonly reason: string }
  | { readonly kind: 'unreadable'; readonly reason: string }

export interface CardMessage {
  /** The processor's id of the message: the same message may come again. */
  readonly id: string
  readonly processorCardId: string
  readonly sentAt: Date
  readonly content: CardMessageContent
}

export interface CardMerchant {
  /** The descriptor, as the network sends it: `SQ *BOOKSHOP 1234 BERLIN`. */
  readonly descriptor: string
  readonly mcc: string | null
  /** The field of its own for the city, or what a merchant without a shop has there: a phone number, an address. */
  readonly city: string | null
  readonly country: string | null
  readonly url: string | null
  readonly networkTokenId: string | null
}

/** The merchant's amount in its currency; missing if that is the euro, or the processor does not state it. */
interface StatedOriginal {
  readonly original?: OriginalAmount | undefined
}

/**
 * The network waits two seconds for the answer. Where it has approved nothing, since the answer was late, was lost or
 * declined, each processor reports so by an `outcome`, until that is acknowledged: an approval whose answer did not
 * arrive ends by it. Amounts are in the processor's euros.
 */
export interface AuthorizationRequest extends StatedOriginal {
  readonly kind: 'authorization'
  readonly authorizationId: string
  /** 0 = the first request of this authorization, 1 = its first increment, and so on. */
  readonly ask: number
  /** For an increment the additional amount. Zero only checks the card. */
  readonly amountCents: Cents
  readonly partialAllowed: boolean
  readonly merchant: CardMerchant
}

/** Facts are booked, never refused. */
export type CardFact =
  /** Null = the whole authorization. */
  | { readonly kind: 'reversal'; readonly authorizationId: string; readonly amountCents: Cents | null }
  | { readonly kind: 'expiry'; readonly authorizationId: string }
  /**
   * Messages with different ids may report the same clearing, identified by `clearingId`. It is the final one
   * if one of them says so.
   */
  | ({
      readonly kind: 'clearing'
      readonly clearingId: string
      readonly authorizationId: string | null
      readonly amountCents: Cents
      readonly final: boolean
      readonly merchant: CardMerchant
    } & StatedOriginal)
  | ({
      readonly kind: 'refund'
      readonly refundId: string
      /** Null = linked to no payment. */
      readonly authorizationId: string | null
      readonly amountCents: Cents
      readonly merchant: CardMerchant
    } & StatedOriginal)
  /**
   * The processor's account of its answers to the network, which overrides ours: it may have decided itself,
   * or have declined what we approved too late. `asks` begins with the first request; a longer list replaces
   * a shorter one.
   */
  | {
      readonly kind: 'outcome'
      readonly authorizationId: string
      readonly asks: readonly AnsweredRequest[]
      readonly merchant: CardMerchant
    }

export interface AnsweredRequest extends StatedOriginal {
  readonly amountCents: Cents
  readonly approved: boolean
}

/** What a processor reports of a request that counts as declined, `earlier` being the answers to those before it. */
export const declineOutcome = (
  { authorizationId, amountCents, merchant, original }: AuthorizationRequest,
  earlier: readonly AnsweredRequest[] = [],
): CardFact => ({
  kind: 'outcome',
  authorizationId,
  asks: [...earlier, { amountCents, approved: false, original }],
  merchant,
})

export type CardNotice =
  | { readonly kind: 'number_closed'; readonly reason: string }
  | { readonly kind: 'shipped'; readonly carrier: string | null; readonly trackingNumber: string | null }
  | {
      readonly kind: 'mobile_wallet'
      readonly tokenId: string
      readonly wallet: 'apple_pay' | 'google_pay' | 'samsung_pay' | 'other'
      readonly status: 'requested' | 'active' | 'suspended' | 'deleted'
    }

export interface DisputeNotice {
  readonly kind: 'dispute'
  readonly disputeId: string
  /** `credited`: the network has paid provisionally. */
  readonly says: 'credited' | 'won' | 'lost'
  /** The paid amount; null = the whole disputed amount, or nothing. */
  readonly amountCents: Cents | null
}

export type CardMessageContent = AuthorizationRequest | CardFact | CardNotice | DisputeNotice

/**
 * The approved part of a request. Every other message is only acknowledged. `isLate`: it is declined for lack of time,
 * and nothing about it may be stored yet.
 */
export type CardReply =
  | { readonly kind: 'approved'; readonly approvedCents: Cents; readonly askedCents: Cents }
  | { readonly kind: 'declined'; readonly reason: string; readonly isLate?: true | undefined }
  | { readonly kind: 'noted' }

export interface ProcessorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface SignedCardMessage {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
