import type { Personal } from '../../values/personal.ts'

/** The sums of what was spent, by merchant too. */
export const analyticsPersonal = {
  spend_counted: {
    personal: { merchant: { kind: 'payment', ground: 'contract', forget: 'word' } },
    plain: ['kind', 'type', 'rule'],
  },
  spend_cells: {
    personal: {
      // It has the keys of metadata, which people have written.
      view: { kind: 'words', ground: 'contract', forget: 'pseudonym' },
      value: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
    },
    plain: [],
  },
  merchant_names: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
      name: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
    },
    plain: [],
  },
} as const satisfies Personal
