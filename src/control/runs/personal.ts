import type { Personal } from '../../values/personal.ts'

export const runsPersonal = {
  runs: {
    personal: {
      name: { kind: 'words', ground: 'contract', forget: 'word' },
      external_id: { kind: 'words', ground: 'contract', forget: 'pseudonym' },
      comment: { kind: 'words', ground: 'contract', forget: 'word' },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
    },
    plain: [],
  },
} as const satisfies Personal
