import type { Personal } from '../../values/personal.ts'

export const authorizationsPersonal = {
  card_authorizations: {
    personal: {
      merchant: { kind: 'payment', ground: 'vouchers' },
      merchant_key: { kind: 'payment', ground: 'vouchers' },
      descriptor: { kind: 'payment', ground: 'vouchers' },
      facts: { kind: 'payment', ground: 'vouchers' },
      decision: { kind: 'payment', ground: 'payments' },
    },
    plain: [
      'processor_ref',
      'source',
      'network_token_id',
      'mcc',
      'country',
      'decline_reason',
      'mpp_credential_id',
    ],
  },
  card_messages: {
    personal: {
      answer_body: { kind: 'payment', ground: 'payments' },
    },
    plain: ['authorization_id', 'kind', 'digest', 'answer_headers'],
  },
} as const satisfies Personal
