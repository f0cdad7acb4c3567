import type { Personal } from '../../values/personal.ts'

/** The sums of what was spent, by merchant too. */
export const analyticsPersonal = {
  spend_counted: {
    personal: { merchant: { kind: 'payment', ground: 'contract' } },
    plain: ['kind', 'type', 'rule'],
  },
  spend_cells: {
    personal: { value: { kind: 'payment', ground: 'contract' } },
    plain: ['view'],
  },
  merchant_names: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract' },
      name: { kind: 'payment', ground: 'contract' },
    },
    plain: [],
  },
} as const satisfies Personal
