import type { Personal } from '../../values/personal.ts'

export const disputesPersonal = {
  disputes: {
    personal: {
      merchant: { kind: 'payment', ground: 'claims' },
      description: { kind: 'words', ground: 'claims' },
      words: { kind: 'words', ground: 'claims' },
      finding: { kind: 'words', ground: 'claims' },
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
