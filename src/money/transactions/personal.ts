import type { Personal } from '../../values/personal.ts'

export const transactionsPersonal = {
  transactions: {
    personal: {
      merchant: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      witnesses: { kind: 'payment', ground: 'vouchers', forget: 'empty' },
      memo: { kind: 'words', ground: 'vouchers', forget: 'word' },
    },
    plain: ['type', 'mcc', 'country', 'decline_reason'],
    about: {
      beneficiary: [
        '(select f.beneficiary_id from transfers f where (f.owner_id, f.mode, f.id) = (t.owner_id, t.mode, t.transfer_id))',
      ],
    },
  },
} as const satisfies Personal
