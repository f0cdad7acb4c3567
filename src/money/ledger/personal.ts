import type { Personal } from '../../values/personal.ts'

export const ledgerPersonal = {
  ledger_accounts: {
    personal: {},
    plain: ['kind', 'normal'],
  },
  ledger_transfers: {
    personal: {},
    plain: ['kind', 'reference_type', 'reference_id'],
  },
  ledger_entries: {
    personal: {},
    plain: ['account_id', 'hold_id'],
  },
  ledger_holds: {
    personal: {},
    plain: ['account_id', 'reference_type', 'reference_id'],
  },
} as const satisfies Personal
