import type { Personal } from '../../values/personal.ts'

export const walletsPersonal = {
  wallets: {
    personal: {
      name: { kind: 'words', ground: 'contract', forget: 'word' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
      iban: { kind: 'account', ground: 'vouchers', forget: 'pseudonym' },
    },
    plain: ['kind', 'parent_wallet_id', 'bic'],
  },
  payment_references: {
    personal: {},
    plain: ['payable_type', 'payable_id'],
  },
} as const satisfies Personal
