import type { Personal } from '../../values/personal.ts'

export const receiptsPersonal = {
  receipts: {
    personal: {
      facts: { kind: 'words', ground: 'vouchers', forget: 'null' },
      suggestions: { kind: 'words', ground: 'vouchers', forget: 'empty' },
      head: { kind: 'words', ground: 'vouchers', forget: 'word' },
      file_name: { kind: 'words', ground: 'vouchers', forget: 'word' },
      sha256: { kind: 'payment', ground: 'vouchers', forget: 'digest' },
      small_sha256: { kind: 'payment', ground: 'vouchers', forget: 'digest' },
      large_sha256: { kind: 'payment', ground: 'vouchers', forget: 'digest' },
    },
    plain: ['matched_by', 'reasons', 'media_type', 'notes'],
    keptWhile: {
      where: "t.status not in ('unread', 'unmatched', 'suggested') or t.transaction_id is not null",
      words: 'it belongs to a payment',
    },
    files: ['sha256', 'small_sha256', 'large_sha256'],
  },
} as const satisfies Personal
