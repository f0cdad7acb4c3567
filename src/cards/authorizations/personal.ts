import { isNotAbout, isUnpaidByCard, type Personal } from '../../values/personal.ts'

export const authorizationsPersonal = {
  card_authorizations: {
    personal: {
      merchant: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      merchant_key: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      descriptor: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      facts: {
        kind: 'payment',
        ground: 'vouchers',
        // The network can still tell of a payment that was forgotten: what is known of it keeps its form.
        forget: {
          members: '{"asks":[],"outcome":[],"reversals":[],"clearings":[],"refunds":[],"returned":[]}',
        },
      },
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
      where: `not (${isUnpaidByCard('t')})`,
      words: 'it was approved once, or money has moved',
    },
  },
  card_messages: {
    personal: {
      answer_body: { kind: 'payment', ground: 'payments', forget: 'word' },
    },
    plain: ['authorization_id', 'kind', 'digest', 'answer_headers'],
    keptWhile: {
      where: isNotAbout('card_authorizations', 't.authorization_id', isUnpaidByCard),
      words: 'its payment was approved once, or money has moved',
    },
  },
} as const satisfies Personal
