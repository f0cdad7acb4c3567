import type { Personal } from '../../values/personal.ts'

/** What agents and owners say has come of payments. */
export const outcomesPersonal = {
  outcomes: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract', forget: 'word' },
      note: { kind: 'words', ground: 'contract', forget: 'word' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
    },
    plain: ['mcc'],
  },
} as const satisfies Personal
