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
    plain: ['origin', 'way', 'reason', 'source_type', 'source_id', 'payment_id', 'transfer_id'],
    keptWhile: {
      where: "t.status not in ('cancelled', 'failed') or t.arrived_cents > 0 or t.completed_at is not null",
      words: 'money has come back, or can still',
    },
    about: { payer: ['request_id'] },
  },
} as const satisfies Personal
