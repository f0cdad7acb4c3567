import type { BegunPayment, TokenPayment } from '../../../cards/authorizations/index.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Euros } from '../../../values/money.ts'
import type { MerchantRequest } from '../merchant-request.ts'
import type { addressRefusals, askRefusals, mintRefusals, offerRefusals } from '../refusals.ts'

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

/** Who pays whom by which request, as it was when the request came; the amount and the token come with the merchant's offer. */
export interface MachinePayment extends Omit<TokenPayment, 'tokenId' | 'amountEuros'> {
  readonly mode: Mode
  readonly delegationId: string | null
  readonly intentMerchant: string
  readonly heldEuros: Euros
  readonly processorCardId: string
  /** By the tenant's clock. */
  readonly askedAt: Date
  readonly request: MerchantRequest
  /** The challenge that the caller has got itself; null where the merchant is to be asked. */
  readonly challenge: string | null
}

/** A payment whose merchant has made an offer, and whose token is minted. */
export type MintedPayment = MachinePayment & TokenPayment

/** Nothing has been minted. Only the stage is stored: the request may hold secrets, and after a crash nothing is asked again. */
export interface Asking {
  readonly stage: 'ask'
  readonly payment: MachinePayment
  toJSON(): object
}

export const asking = (payment: MachinePayment): Asking => ({
  stage: 'ask',
  payment,
  toJSON: () => ({ stage: 'ask' }),
})

/** The credential is on record as sent, and may have reached the merchant. Only its id is stored. */
export interface Sending {
  readonly stage: 'send'
  readonly credentialId: string
  /** With the credential among the headers of its request. */
  readonly payment: MintedPayment
  /** The payment of the card that was begun with it. */
  readonly begun: BegunPayment
  toJSON(): object
}

export const sending = (payment: MintedPayment, begun: BegunPayment): Sending => ({
  stage: 'send',
  credentialId: payment.mppCredentialId,
  payment,
  begun,
  toJSON: () => ({ stage: 'send', credentialId: payment.mppCredentialId }),
})

/** The processor has given a token that nobody is to have. */
export interface GivingBack {
  readonly stage: 'give back'
  readonly credentialId: string
  readonly mode: Mode
  readonly tokenId: string
  readonly now: string
  readonly problem: PayProblem
}

export const givingBack = (payment: MintedPayment, problem: PayProblem): GivingBack => ({
  stage: 'give back',
  credentialId: payment.mppCredentialId,
  mode: payment.mode,
  tokenId: payment.tokenId,
  now: payment.askedAt.toISOString(),
  problem,
})
