import type { Personal } from '../../values/personal.ts'

export const fundPersonal = {
  fundings: {
    personal: {
      reason: { kind: 'payment', ground: 'payments', forget: { value: '{}' } },
      next_action: { kind: 'payment', ground: 'payments', forget: { value: '{}' } },
    },
    plain: ['payment_method_id', 'credit_id'],
    keptWhile: {
      where: "t.status <> 'failed'",
      words: 'it has not failed',
    },
  },
} as const satisfies Personal
