import type { Personal } from '../../values/personal.ts'

export const billingPersonal = {
  payment_methods: {
    personal: {
      holder: { kind: 'name', ground: 'payments', forget: 'word' },
      brand: { kind: 'account', ground: 'payments', forget: 'word' },
      last4: { kind: 'account', ground: 'payments', forget: { value: '0000' } },
    },
    plain: ['kind'],
    secret: ['token'],
  },
} as const satisfies Personal
