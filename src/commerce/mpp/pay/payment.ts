import type { TokenPayment } from '../../../cards/authorizations/index.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
import type { NewestRates } from '../../../money/exchange-rates/index.ts'
import type { ChargeMethod } from '../../../mpp/index.ts'
import type { Cents } from '../../../values/money.ts'
import type { merchantOfferRefusals, merchantRefusals, merchantUrlRefusals, mintRefusals } from '../api.ts'
import type { MerchantRequest } from '../merchant-request.ts'

/** Methods of the card’s processor. */
export interface PayingMethods {
  /** Never empty; the preferred one first. */
  readonly methods: readonly ChargeMethod[]
  /** Left out by the policy. */
  readonly excluded?: readonly ChargeMethod[]
}

/** Payer, payee and request, as they were when the request came. Amount and token follow from the merchant's offer. */
export interface MachinePayment
  extends Omit<TokenPayment, 'tokenId' | 'amountCents' | 'conversion'>,
    Required<PayingMethods> {
  readonly ownerId: string
  readonly mode: Mode
  readonly delegationId: string | null
  readonly intentMerchant: string
  readonly heldCents: Cents
  readonly rates: NewestRates | null
  readonly marginPercent: number
  readonly processorCardId: string
  readonly askedAt: Date
  readonly request: MerchantRequest
  readonly challenge: string | null
}

/** Its token is null until a shared payment token has been created for it. */
export type ChosenPayment = MachinePayment & TokenPayment

export interface BegunPayment extends ChosenPayment {
  readonly authorizationId: string
}

/** What sending its credential needs. */
export interface SendablePayment
  extends Pick<
    BegunPayment,
    'mppCredentialId' | 'authorizationId' | 'agentId' | 'cardId' | 'mode' | 'request' | 'askedAt'
  > {
  /** Null for the method `card`. */
  readonly sharedTokenId: string | null
}

export type MachinePaymentProblemCode =
  | keyof typeof merchantUrlRefusals
  | keyof typeof merchantOfferRefusals
  | keyof typeof merchantRefusals
  | keyof typeof mintRefusals

export interface MachinePaymentProblem {
  readonly code: MachinePaymentProblemCode
  readonly message: string
}

export const isPayProblem = (value: object): value is MachinePaymentProblem =>
  'code' in value && 'message' in value

/**
 * Nothing is minted yet. The request is not stored, since it may contain secrets, and is not sent again after
 * a crash.
 */
export interface OfferStage {
  readonly stage: 'ask'
}

/**
 * The payment has begun, and a shared payment token is created for it under the credential's id. Nothing is
 * sent, and a token that was created is found again by that id.
 */
export interface ShareStage {
  readonly stage: 'share'
  readonly credentialId: string
}

/**
 * A person had to confirm the shared payment token, and the processor is asked whether that is done. Nothing is
 * sent: after a crash it waits as before.
 */
export interface ConfirmStage {
  readonly stage: 'confirm'
  readonly credentialId: string
}

/** The credential is recorded as sent, and may have reached the merchant. */
export interface SendStage {
  readonly stage: 'send'
  readonly credentialId: string
}

export interface ReturnTokenStage {
  readonly stage: 'give back'
  readonly problem: MachinePaymentProblem
}

export type MachinePaymentStage = OfferStage | ShareStage | ConfirmStage | SendStage | ReturnTokenStage
