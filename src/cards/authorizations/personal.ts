import type { Personal } from '../../values/personal.ts'
import { isDeclinedPayment, isNotAbout } from '../../values/unpaid.ts'

export const authorizationsPersonal = {
  card_authorizations: {
    personal: {
      merchant: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      merchant_key: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      descriptor: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      facts: { kind: 'payment', ground: 'vouchers', forget: 'empty' },
      decision: { kind: 'payment', ground: 'payments', forget: 'null' },
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
    keptWhile: {
      where: `not (${isDeclinedPayment('t')})`,
      words: 'it was not declined',
    },
  },
  card_messages: {
    personal: {
      answer_body: { kind: 'payment', ground: 'payments', forget: 'word' },
    },
    plain: ['authorization_id', 'kind', 'digest', 'answer_headers'],
    keptWhile: {
      where: isNotAbout('card_authorizations', 't.authorization_id', isDeclinedPayment),
      words: 'its payment was not declined',
    },
  },
} as const satisfies Personal
