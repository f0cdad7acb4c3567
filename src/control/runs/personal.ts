import type { Personal } from '../../values/personal.ts'

export const runsPersonal = {
  runs: {
    personal: {
      name: { kind: 'words', ground: 'contract' },
      external_id: { kind: 'words', ground: 'contract' },
      comment: { kind: 'words', ground: 'contract' },
      reason: { kind: 'words', ground: 'contract' },
      metadata: { kind: 'words', ground: 'contract' },
    },
    plain: [],
  },
} as const satisfies Personal
