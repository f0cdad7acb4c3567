import type { Personal } from '../../values/personal.ts'

export const disputesPersonal = {
  disputes: {
    personal: {
      merchant: { kind: 'payment', ground: 'claims', forget: 'word' },
      description: { kind: 'words', ground: 'claims', forget: 'word' },
      words: { kind: 'words', ground: 'claims', forget: 'empty' },
      finding: { kind: 'words', ground: 'claims', forget: 'null' },
    },
    plain: [
      'reason',
      'credited_wallet_id',
      'evidence_ids',
      'resolution',
      'processor',
      'processor_dispute_id',
      'processor_problem',
    ],
  },
} as const satisfies Personal
