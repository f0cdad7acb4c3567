import type { Failure } from '../../../kernel/contract/operation.ts'
import { settledEvents } from './settled-events.ts'

/** The refusals of an address that wants to be paid. Those with a fresh challenge are 402. */
export const paidFails = {
  request_not_found: [404, 'There is nothing to be paid here.'],
  payment_required: [
    402,
    'Pay the challenge in WWW-Authenticate, and send the same request with the credential.',
  ],
  credential_malformed: [402, 'The credential cannot be read.'],
  challenge_invalid: [402, 'The challenge is none of ours, or something in it was changed.'],
  challenge_expired: [402, 'The challenge has expired. Pay the fresh one.'],
  payload_invalid: [402, 'The payload of the credential cannot be used.'],
  payment_refused: [402, 'The payment was refused.'],
  method_not_offered: [400, 'Only the method card with the intent charge is offered here.'],
  challenge_used: [
    409,
    'Another credential has been presented for this challenge. Ask for a fresh one, if you mean to pay again.',
  ],
  payment_under_way: [
    409,
    'A payment is under way. Send the same credential again in a moment; do not pay anew.',
  ],
  request_paid: [409, 'This has been paid already.'],
  request_gone: [410, 'This cannot be paid any more: it has expired or was cancelled.'],
  outcome_open: [
    504,
    'The acquirer has not answered yet. Nothing else is charged: send the same credential again later to learn the outcome.',
  ],
} as const satisfies Record<string, Failure>

export type PaidFailure = keyof typeof paidFails

/** What every address has in common that wants to be paid. */
export const paidContract = {
  callers: ['public'],
  run: 'outside',
  requires: 'acquirer',
  rawBody: true,
  bodyLimitKiB: 256,
  reads: {
    authorization: 'The credential: `Payment <base64url>`. Any other scheme presents none.',
    'payment-authorization': 'The credential, for clients that need `Authorization` for themselves.',
    'accept-payment': 'What the client can pay with. One challenge is offered, whatever it says.',
  },
  headers: {
    200: {
      'Payment-Receipt':
        'The receipt: base64url of JSON, with `challengeId`, `externalId` and a signed `proof`.',
      'Cache-Control': 'Always `private`: what was paid for is for whoever has paid.',
    },
    402: { 'WWW-Authenticate': 'A fresh challenge of the scheme `Payment`, for the method `card`.' },
  },
  fails: paidFails,
  problems: {
    payment_required: ['payment-required', 'Payment Required'],
    credential_malformed: ['malformed-credential', 'Malformed Credential'],
    challenge_invalid: ['invalid-challenge', 'Invalid Challenge'],
    challenge_expired: ['payment-expired', 'Payment Expired'],
    payload_invalid: ['invalid-payload', 'Invalid Payload'],
    payment_refused: ['verification-failed', 'Verification Failed'],
    method_not_offered: ['method-unsupported', 'Method Unsupported'],
  },
  emits: settledEvents,
} as const
