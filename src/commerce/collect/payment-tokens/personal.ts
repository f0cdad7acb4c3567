import type { Personal } from '../../../values/personal.ts'

export const paymentTokensPersonal = {
  payment_tokens: {
    personal: {
      recipient_name: { kind: 'name', ground: 'vouchers', forget: 'word' },
    },
    plain: ['recipient_wallet_id', 'recipient_owner_id', 'hint', 'charge_id'],
    secret: ['hash'],
    keptWhile: {
      where: "t.status not in ('denied', 'revoked', 'expired')",
      words: 'it was charged, or can still be',
    },
  },
} as const satisfies Personal
