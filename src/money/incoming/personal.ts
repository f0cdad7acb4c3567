import type { Personal } from '../../values/personal.ts'

export const incomingPersonal = {
  incoming_credits: {
    personal: {
      sender_name: { kind: 'name', ground: 'vouchers', forget: 'word' },
      recipient_name: { kind: 'name', ground: 'vouchers', forget: 'word' },
      iban: { kind: 'account', ground: 'vouchers', forget: 'word' },
      sender_iban: { kind: 'account', ground: 'vouchers', forget: 'word' },
      reference: { kind: 'words', ground: 'vouchers', forget: 'word' },
      bank_reference: { kind: 'payment', ground: 'vouchers', forget: 'pseudonym' },
      return_reference: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      end_to_end_id: { kind: 'payment', ground: 'vouchers', forget: 'word' },
    },
    plain: [
      'reason',
      'source',
      'origin',
      'to_owner_id',
      'own_wallet_id',
      'payable_type',
      'payable_id',
      'from_owner_id',
      'from_wallet_id',
    ],
    about: { payer: ['id', 'payable_id'] },
  },
} as const satisfies Personal
