import type { Personal } from '../../values/personal.ts'
import { isUnpaidByCard } from '../../values/unpaid.ts'

export const transactionsPersonal = {
  transactions: {
    personal: {
      merchant: { kind: 'payment', ground: 'vouchers', forget: 'word' },
      witnesses: { kind: 'payment', ground: 'vouchers', forget: 'empty' },
      memo: { kind: 'words', ground: 'vouchers', forget: 'word' },
    },
    plain: ['type', 'mcc', 'country', 'decline_reason'],
    keptWhile: {
      where: `t.status <> 'declined' or not exists (
        select from card_authorizations a where (a.owner_id, a.mode, a.transaction_id) = (t.owner_id, t.mode, t.id)
        and ${isUnpaidByCard('a')})`,
      words: 'it is no payment by card that was declined',
    },
    about: {
      beneficiary: [
        '(select f.beneficiary_id from transfers f where (f.owner_id, f.mode, f.id) = (t.owner_id, t.mode, t.transfer_id))',
      ],
    },
  },
} as const satisfies Personal
