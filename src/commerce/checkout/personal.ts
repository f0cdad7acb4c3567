import type { Personal } from '../../values/personal.ts'

export const checkoutPersonal = {
  checkout_sessions: {
    personal: {
      merchant_host: { kind: 'payment', ground: 'contract', forget: 'word' },
    },
    plain: ['hint', 'key_thumbprint'],
    secret: ['hash'],
  },
} as const satisfies Personal
