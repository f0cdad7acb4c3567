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
    about: {
      beneficiary: [
        '(select i.beneficiary_id from intents i where (i.owner_id, i.mode, i.id) = (t.owner_id, t.mode, t.intent_id))',
      ],
    },
  },
} as const satisfies Personal
