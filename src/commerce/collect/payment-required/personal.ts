import type { Personal } from '../../../values/personal.ts'

export const settlementsPersonal = {
  mpp_settlements: {
    personal: {
      descriptor: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      receipt: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      last4: { kind: 'account', ground: 'vouchers', forget: { value: '0000' } },
    },
    plain: ['scenario', 'challenge_id', 'credential_digest', 'network', 'decline_code', 'decline_reason'],
    secret: ['handle'],
    keptWhile: {
      where: "t.status <> 'declined'",
      words: 'the charge was not declined',
    },
    about: { payer: ['request_id'] },
  },
} as const satisfies Personal
