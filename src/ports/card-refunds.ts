import type { Euros } from '../values/money.ts'
import type { CardMerchant } from './card-messages.ts'
import type { ProcessorCall, ProcessorFailure } from './processor-call.ts'

/** Money of a cleared payment that the merchant is to send back. */
export interface NewCardRefund {
  readonly processorCardId: string
  /** The network's id of the payment. */
  readonly authorizationId: string
  readonly amountEuros: Euros
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
