import type { TokenPayment } from '../../../cards/authorizations/index.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Cents } from '../../../values/money.ts'
import type { addressRefusals, askRefusals, mintRefusals, offerRefusals } from '../api.ts'
import type { MerchantRequest } from '../merchant-request.ts'

/** Who pays whom by which request, as it was when the request came; the amount and the token come with the merchant's offer. */
export interface MachinePayment extends Omit<TokenPayment, 'tokenId' | 'amountCents'> {
  readonly mode: Mode
  readonly delegationId: string | null
  readonly intentMerchant: string
  readonly heldCents: Cents
  readonly processorCardId: string
  /** By the tenant's clock. */
  readonly askedAt: Date
  readonly request: MerchantRequest
  /** The challenge that the caller has got itself; null where the merchant is to be asked. */
  readonly challenge: string | null
}

/** A payment whose merchant has made an offer, and whose token is minted. */
export type MintedPayment = MachinePayment & TokenPayment

/** A payment on record, with the credential among the headers of its request. */
export interface SentPayment extends MintedPayment {
  readonly authorizationId: string
}

/** The code of a refusal before anything has left. */
export type PayProblemCode =
  | keyof typeof addressRefusals
  | keyof typeof offerRefusals
  | keyof typeof askRefusals
  | keyof typeof mintRefusals

/** Why nothing is paid: the code of a refusal, and its sentence. */
export interface PayProblem {
  readonly code: PayProblemCode
  readonly message: string
}

export const isProblem = (value: object): value is PayProblem => 'code' in value && 'message' in value

/** Nothing is minted yet. Nothing more is stored: the request may hold secrets, and after a crash nothing is asked again. */
export interface Asking {
  readonly stage: 'ask'
}

/** The credential is on record as sent, and may have reached the merchant. */
interface Sending {
  readonly stage: 'send'
  readonly credentialId: string
}

/** The processor has given a token that no merchant gets. */
export interface GivingBack {
  readonly stage: 'give back'
  readonly credentialId: string
  readonly mode: Mode
  readonly tokenId: string
  readonly now: string
  readonly problem: PayProblem
}

/** What is stored of a payment before each call. */
export type Stage = Asking | Sending | GivingBack
