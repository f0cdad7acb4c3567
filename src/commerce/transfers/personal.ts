import type { Personal } from '../../values/personal.ts'

export const transfersPersonal = {
  transfers: {
    personal: {
      parts: { kind: 'payment', ground: 'vouchers', forget: { value: '[]' } },
      reason: { kind: 'payment', ground: 'vouchers', forget: 'null' },
      recall: { kind: 'payment', ground: 'vouchers', forget: 'null' },
      reference: { kind: 'words', ground: 'vouchers', forget: { value: 'Forgotten' } },
      payee: {
        kind: 'name',
        ground: 'vouchers',
        forget: {
          members: '{"name":"[forgotten]","sepaName":"Forgotten","iban":"ZZ00FORGOTTEN000","bic":null}',
        },
      },
      payee_check: { kind: 'name', ground: 'vouchers', forget: 'null' },
    },
    plain: ['from_wallet_id', 'to_wallet_id', 'kind', 'scheme', 'end_to_end_id', 'credit_id'],
    keptWhile: {
      where: "t.status <> 'cancelled' or t.submitted_at is not null",
      words: 'it was not cancelled before its submission',
    },
    about: { beneficiary: ['beneficiary_id'] },
  },
  transfer_days: {
    personal: {},
    plain: [],
  },
  transfer_limits: {
    personal: {},
    plain: [],
  },
} as const satisfies Personal
