import type { Personal } from '../../../values/personal.ts'

export const settlementsPersonal = {
  mpp_settlements: {
    personal: {
      descriptor: { kind: 'payment', ground: 'vouchers' },
      receipt: { kind: 'payment', ground: 'vouchers' },
      last4: { kind: 'account', ground: 'vouchers' },
    },
    plain: ['scenario', 'challenge_id', 'credential_digest', 'network', 'decline_code', 'decline_reason'],
    secret: ['handle'],
    about: { payer: ['request_id'] },
  },
} as const satisfies Personal
