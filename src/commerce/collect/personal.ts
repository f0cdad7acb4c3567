import type { Personal } from '../../values/personal.ts'

export const collectPersonal = {
  payment_requests: {
    personal: {
      description: { kind: 'words', ground: 'vouchers' },
      payer_name: { kind: 'name', ground: 'vouchers' },
      payer_email: { kind: 'contact', ground: 'contract' },
      metadata: { kind: 'words', ground: 'contract' },
      comment: { kind: 'words', ground: 'contract' },
      unlocks: { kind: 'words', ground: 'contract' },
    },
    plain: ['reference', 'paid_by'],
    about: { payer: ['id'] },
  },
  request_payments: {
    personal: {
      charge: { kind: 'payment', ground: 'vouchers' },
    },
    plain: ['way', 'surplus_reason', 'source_id'],
    about: { payer: ['request_id'] },
  },
  request_refunds: {
    personal: {
      reason: { kind: 'words', ground: 'vouchers' },
      failure: { kind: 'words', ground: 'vouchers' },
    },
    plain: ['payment_id', 'way'],
    about: { payer: ['request_id'] },
  },
} as const satisfies Personal
