import type { Personal } from '../../values/personal.ts'

export const receiptsPersonal = {
  receipts: {
    personal: {
      facts: { kind: 'words', ground: 'vouchers' },
      suggestions: { kind: 'words', ground: 'vouchers' },
      head: { kind: 'words', ground: 'vouchers' },
      file_name: { kind: 'words', ground: 'vouchers' },
      sha256: { kind: 'payment', ground: 'vouchers' },
      small_sha256: { kind: 'payment', ground: 'vouchers' },
      large_sha256: { kind: 'payment', ground: 'vouchers' },
    },
    plain: ['matched_by', 'reasons', 'media_type', 'notes'],
    files: ['sha256', 'small_sha256', 'large_sha256'],
  },
} as const satisfies Personal
