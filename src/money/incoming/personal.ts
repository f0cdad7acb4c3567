import type { Personal } from '../../values/personal.ts'

export const incomingPersonal = {
  incoming_credits: {
    personal: {
      sender_name: { kind: 'name', ground: 'vouchers' },
      recipient_name: { kind: 'name', ground: 'vouchers' },
      iban: { kind: 'account', ground: 'vouchers' },
      sender_iban: { kind: 'account', ground: 'vouchers' },
      reference: { kind: 'words', ground: 'vouchers' },
      bank_reference: { kind: 'payment', ground: 'vouchers' },
      end_to_end_id: { kind: 'payment', ground: 'vouchers' },
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
