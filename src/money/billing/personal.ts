import type { Personal } from '../../values/personal.ts'

export const billingPersonal = {
  payment_methods: {
    personal: {
      holder: { kind: 'name', ground: 'payments' },
      brand: { kind: 'account', ground: 'payments' },
      last4: { kind: 'account', ground: 'payments' },
    },
    plain: ['kind'],
    secret: ['token'],
  },
} as const satisfies Personal
