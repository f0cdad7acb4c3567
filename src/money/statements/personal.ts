import type { Personal } from '../../values/personal.ts'

export const statementsPersonal = {
  statements: {
    personal: {
      holder: { kind: 'name', ground: 'vouchers', forget: 'word' },
      iban: { kind: 'account', ground: 'vouchers', forget: 'word' },
    },
    plain: ['account_id', 'period', 'bic'],
  },
} as const satisfies Personal
