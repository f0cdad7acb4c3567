import type { Failure, Told } from '../../../kernel/contract/operation.ts'
import { settledEvents } from './settled-events.ts'

/** The refusals of an address that wants to be paid. Those with a fresh challenge are 402. */
export const paidFails = {
  request_not_found: [404, 'There is nothing to be paid here.'],
  payment_required: [
    402,
    'Pay the challenge in WWW-Authenticate, and send the same request with the credential.',
    { problem: ['payment-required', 'Payment Required'] },
  ],
  credential_malformed: [
    402,
    'The credential cannot be read.',
    { problem: ['malformed-credential', 'Malformed Credential'] },
  ],
  challenge_invalid: [
    402,
    'The challenge is none of ours, or something in it was changed.',
    { problem: ['invalid-challenge', 'Invalid Challenge'] },
  ],
  challenge_expired: [
    402,
    'The challenge has expired. Pay the fresh one.',
    { problem: ['payment-expired', 'Payment Expired'] },
  ],
  payload_invalid: [
    402,
    'The payload of the credential cannot be used.',
    { problem: ['invalid-payload', 'Invalid Payload'] },
  ],
  payment_refused: [
    402,
    'The payment was refused.',
    { problem: ['verification-failed', 'Verification Failed'] },
  ],
  method_not_offered: [
    400,
    'Only the method card with the intent charge is offered here.',
    { problem: ['method-unsupported', 'Method Unsupported'] },
  ],
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

/** The refusal of a request that brings no payment: what it is asked to pay. */
export function asking(asks: NonNullable<Told['asks']>): Failure {
  const [status, message, told] = paidFails.payment_required
  return [status, message, { ...told, asks }]
}

/** What every address has in common that wants to be paid. */
export const paidContract = {
  callers: ['public'],
  run: 'outside',
  requires: 'acquirer',
  limits: { bodyKiB: 256 },
  http: {
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
  },
  fails: paidFails,
  emits: settledEvents,
} as const
