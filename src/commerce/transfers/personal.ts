import type { Personal } from '../../values/personal.ts'

export const transfersPersonal = {
  transfers: {
    personal: {
      parts: { kind: 'payment', ground: 'vouchers' },
      reason: { kind: 'payment', ground: 'vouchers' },
      recall: { kind: 'payment', ground: 'vouchers' },
      reference: { kind: 'words', ground: 'vouchers' },
      payee: { kind: 'name', ground: 'vouchers' },
      payee_check: { kind: 'name', ground: 'vouchers' },
    },
    plain: ['from_wallet_id', 'to_wallet_id', 'kind', 'scheme', 'end_to_end_id', 'credit_id'],
    about: { beneficiary: ['beneficiary_id'] },
  },
  transfer_days: {
    personal: {},
    plain: [],
  },
  transfer_limits: {
    personal: {},
    plain: [],
  },
} as const satisfies Personal
