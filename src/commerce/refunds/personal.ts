import type { Personal } from '../../values/personal.ts'

export const refundsPersonal = {
  refunds: {
    personal: {
      note: { kind: 'words', ground: 'vouchers', forget: 'word' },
      failure: {
        kind: 'words',
        ground: 'vouchers',
        forget: { value: '{"code":"forgotten","message":"[forgotten]"}' },
      },
    },
    plain: ['origin', 'way', 'reason', 'source_type', 'source_id'],
  },
} as const satisfies Personal
