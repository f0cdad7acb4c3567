import type { Personal } from '../../values/personal.ts'

export const transactionsPersonal = {
  transactions: {
    personal: {
      merchant: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      witnesses: { kind: 'payment', ground: 'vouchers', forget: 'empty' },
      memo: { kind: 'words', ground: 'vouchers', forget: 'word' },
    },
    plain: ['type', 'mcc', 'country', 'decline_reason'],
  },
} as const satisfies Personal
