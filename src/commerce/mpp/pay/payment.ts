import type { TokenPayment } from '../../../cards/authorizations/index.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Cents } from '../../../values/money.ts'
import type { addressRefusals, askRefusals, mintRefusals, offerRefusals } from '../api.ts'
import type { MerchantRequest } from '../merchant-request.ts'

/** Payer, payee and request, as they were when the request came. Amount and token follow from the merchant's offer. */
export interface MachinePayment extends Omit<TokenPayment, 'tokenId' | 'amountCents'> {
  readonly mode: Mode
  readonly delegationId: string | null
  readonly intentMerchant: string
  readonly heldCents: Cents
  readonly processorCardId: string
  /** By the tenant's clock. */
  readonly askedAt: Date
  readonly request: MerchantRequest
  /** A challenge that the caller already has; null if the merchant is to be asked. */
  readonly challenge: string | null
}

/** With a merchant's offer and a minted token. */
export type MintedPayment = MachinePayment & TokenPayment

/** On record, with the credential among the headers of its request. */
export interface SentPayment extends MintedPayment {
  readonly authorizationId: string
}

/** Before anything has left. */
export type PayProblemCode =
  | keyof typeof addressRefusals
  | keyof typeof offerRefusals
  | keyof typeof askRefusals
  | keyof typeof mintRefusals

export interface PayProblem {
  readonly code: PayProblemCode
  readonly message: string
}

export const isProblem = (value: object): value is PayProblem => 'code' in value && 'message' in value

/**
 * Nothing is minted yet. Nothing else is stored: the request may contain secrets, and after a crash it is not
 * sent again.
 */
export interface Asking {
  readonly stage: 'ask'
}

/** The credential is recorded as sent, and may have reached the merchant. */
interface Sending {
  readonly stage: 'send'
  readonly credentialId: string
}

/** The processor issued a token that no merchant gets. */
export interface GivingBack {
  readonly stage: 'give back'
  readonly credentialId: string
  readonly mode: Mode
  readonly tokenId: string
  readonly now: string
  readonly problem: PayProblem
}

/** Stored before each call. */
export type Stage = Asking | Sending | GivingBack
