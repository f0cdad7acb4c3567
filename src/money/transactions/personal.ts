import type { Personal } from '../../values/personal.ts'

export const transactionsPersonal = {
  transactions: {
    personal: {
      merchant: { kind: 'payment', ground: 'vouchers' },
      witnesses: { kind: 'payment', ground: 'vouchers' },
      memo: { kind: 'words', ground: 'vouchers' },
    },
    plain: ['type', 'mcc', 'country', 'decline_reason'],
  },
} as const satisfies Personal
