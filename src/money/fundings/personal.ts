import type { Personal } from '../../values/personal.ts'

export const fundPersonal = {
  fundings: {
    personal: {
      reason: { kind: 'payment', ground: 'payments', forget: { value: '{}' } },
      next_action: { kind: 'payment', ground: 'payments', forget: { value: '{}' } },
    },
    plain: ['payment_method_id', 'credit_id'],
  },
} as const satisfies Personal
