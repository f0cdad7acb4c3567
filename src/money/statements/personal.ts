import type { Personal } from '../../values/personal.ts'

export const statementsPersonal = {
  statements: {
    personal: {
      holder: { kind: 'name', ground: 'vouchers' },
      iban: { kind: 'account', ground: 'vouchers' },
    },
    plain: ['account_id', 'period', 'bic'],
  },
} as const satisfies Personal
