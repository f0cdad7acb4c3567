import type { BegunPayment } from '../../../cards/authorizations/index.ts'
import type { Mode } from '../../../kernel/contract/actor.ts'
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

/** Who pays what, as it was when the request came. */
export interface PaySubject {
  /** The id that the credential will have. */
  readonly credentialId: string
  readonly mode: Mode
  readonly agentId: string
  readonly delegationId: string | null
  readonly intentId: string
  readonly intentMerchant: string
  readonly heldCents: string
  readonly cardId: string
  readonly numberId: string
  readonly processorCardId: string
  /** The tenant's time. */
  readonly now: string
}

/**
 * Nothing has been minted. The request lives in memory only: a private field is not in the JSON that is stored, and after a
 * crash nothing is asked again.
 */
export class Asking {
  readonly stage = 'ask'
  readonly subject: PaySubject
  readonly #request: MerchantRequest
  readonly #challenge: string | null

  constructor(subject: PaySubject, request: MerchantRequest, challenge: string | null = null) {
    this.subject = subject
    this.#request = request
    this.#challenge = challenge
  }

  get request(): MerchantRequest {
    return this.#request
  }

  /** The challenge that the caller has got itself; null where the merchant is to be asked. */
  get challenge(): string | null {
    return this.#challenge
  }
}

/** The credential is on record as sent, and may have reached the merchant. It lives in memory only. */
export class Sending {
  readonly stage = 'send'
  readonly credentialId: string
  readonly agentId: string
  readonly mode: Mode
  /** The payment that was begun with it. */
  readonly begun: BegunPayment
  readonly #request: MerchantRequest

  constructor(
    { id, mode }: { readonly id: string; readonly mode: Mode },
    begun: BegunPayment,
    request: MerchantRequest,
  ) {
    this.credentialId = id
    this.agentId = begun.agentId
    this.mode = mode
    this.begun = begun
    this.#request = request
  }

  /** With the credential among its headers. */
  get request(): MerchantRequest {
    return this.#request
  }
}

/** The processor has given a token that nobody is to have. */
export interface GivingBack {
  readonly stage: 'give back'
  readonly credentialId: string
  readonly mode: Mode
  readonly tokenId: string
  readonly now: string
  readonly problem: PayProblem
}

/** What is left of a reservation after a crash. */
export type StoredReservation =
  | { readonly stage: 'ask' }
  | { readonly stage: 'send'; readonly credentialId: string }
  | GivingBack
