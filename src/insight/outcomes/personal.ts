import type { Personal } from '../../values/personal.ts'

/** What agents and owners say has come of payments. */
export const outcomesPersonal = {
  outcomes: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract' },
      note: { kind: 'words', ground: 'contract' },
      metadata: { kind: 'words', ground: 'contract' },
    },
    plain: ['mcc'],
  },
} as const satisfies Personal
