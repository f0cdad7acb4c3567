import type { Personal } from '../../values/personal.ts'

export const collectPersonal = {
  payment_requests: {
    personal: {
      description: { kind: 'words', ground: 'vouchers', forget: 'word' },
      payer_name: { kind: 'name', ground: 'vouchers', forget: 'word' },
      payer_email: { kind: 'contact', ground: 'contract', forget: 'null' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
      comment: { kind: 'words', ground: 'contract', forget: 'word' },
      unlocks: { kind: 'words', ground: 'contract', forget: 'null' },
    },
    plain: ['reference', 'paid_by'],
    keptWhile: {
      where: "t.status not in ('cancelled', 'expired') or t.paid_cents + t.surplus_cents > 0",
      words: 'something was paid, or can still be',
    },
    about: { payer: ['id'] },
  },
  request_payments: {
    personal: {
      charge: { kind: 'payment', ground: 'vouchers', forget: 'null' },
    },
    plain: ['way', 'surplus_reason', 'source_id'],
    keptWhile: {
      where: "t.status <> 'failed'",
      words: 'it has not failed',
    },
    about: { payer: ['request_id'] },
  },
} as const satisfies Personal
