import { subjectRefusals } from '../../cards/access-events/index.ts'
import type { Failure } from '../../kernel/contract/operation.ts'

/** Refusals because of the address, before anything is sent there. */
export const addressRefusals = {
  url_refused: [400, 'url: this address is refused. Give one that can be reached from the public internet.'],
  https_required: [
    400,
    'url: pay over https. Plain http is for test mode, at addresses that the operator has opened (OUTBOUND_ALLOW_CIDRS).',
  ],
  merchant_mismatch: [400, 'url: the intent is for another merchant than this host.'],
  merchant_denied: [403, 'url: a protect rule forbids to pay there.'],
  merchant_not_allowed: [
    403,
    'url: where there are allow rules, only what they cover is paid, and none covers this. The owner adds one by POST /mpp/protect.',
  ],
} as const satisfies Record<string, Failure>

/** Refusals because of the offer: nothing was minted for it. */
export const offerRefusals = {
  no_challenge: [400, 'url: the merchant asks for no payment.'],
  no_card_offer: [400, 'url: the merchant takes no payment by card/charge of the scheme Payment.'],
  challenge_unusable: [400, 'url: the challenge of the merchant cannot be used.'],
  challenge_expired: [400, 'url: the challenge of the merchant has expired.'],
  amount_above_held: [400, 'url: the merchant asks for more than is held for the intent.'],
  currency_not_eur: [400, 'url: the merchant asks for another currency. Only euros are paid.'],
  network_not_accepted: [400, 'url: the merchant takes no card of this network.'],
  digest_mismatch: [400, 'url: the challenge is for another body than that of this request.'],
  merchant_key_unusable: [400, 'url: nothing may be encrypted to the key of the merchant.'],
} as const satisfies Record<string, Failure>

/** Refusals because somebody else has not answered before anything was minted. */
export const askRefusals = {
  merchant_busy: [
    503,
    'Too many requests to this merchant are still without an answer. Nothing was sent or paid: try again, with a new Idempotency-Key.',
  ],
  merchant_unusable: [
    502,
    'The answer of the merchant cannot be used. Nothing was minted or paid: try again, with a new Idempotency-Key.',
  ],
  merchant_silent: [
    504,
    'The merchant did not answer in time. Nothing was minted or paid: try again, with a new Idempotency-Key.',
  ],
} as const satisfies Record<string, Failure>

/** Refusals at the minting: nothing has left. */
export const mintRefusals = {
  ...subjectRefusals,
  intent_other_merchant: [
    400,
    'intentId: the agent pays only the merchant that it has paid first, and the intent is for another one.',
  ],
  card_cannot_pay: [400, 'The card cannot pay any more: it was frozen, closed or replaced meanwhile.'],
  payment_denied: [403, 'The policy of the agent, its card or its risk forbids this payment.'],
  network_tokens_missing: [503, 'The processor of this card gives no network tokens.'],
  processor_silent: [
    504,
    'The processor of the card did not answer in time. Nothing was minted or paid: try again, with a new Idempotency-Key.',
  ],
  processor_unusable: [
    502,
    'The answer of the card’s processor cannot be used. Nothing was minted or paid: try again, with a new Idempotency-Key.',
  ],
  processor_refused: [502, 'The processor of the card refuses to give a network token.'],
  pay_interrupted: [
    503,
    'The request was interrupted before anything was minted or sent. Nothing was paid: try again, with a new Idempotency-Key.',
  ],
} as const satisfies Record<string, Failure>

/** Refusals once the credential may have reached the merchant. */
export const sentRefusals = {
  payment_indeterminate: [
    502,
    'The credential was sent, and the merchant’s answer does not say that it was paid. The money stays held: GET /v1/mpp/credentials tells how it stands.',
  ],
  payment_unanswered: [
    504,
    'The credential was sent, and the merchant did not answer in time. The money stays held: GET /v1/mpp/credentials tells how it stands.',
  ],
} as const satisfies Record<string, Failure>
