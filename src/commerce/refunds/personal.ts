import type { Personal } from '../../values/personal.ts'

export const refundsPersonal = {
  refunds: {
    personal: {
      note: { kind: 'words', ground: 'vouchers' },
      failure: { kind: 'words', ground: 'vouchers' },
    },
    plain: ['origin', 'way', 'reason', 'source_type', 'source_id'],
  },
} as const satisfies Personal
