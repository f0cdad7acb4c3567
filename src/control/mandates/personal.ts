import type { Personal } from '../../values/personal.ts'

export const mandatesPersonal = {
  mandates: {
    personal: {
      name: { kind: 'words', ground: 'payments', forget: 'word' },
      comment: { kind: 'words', ground: 'payments', forget: 'word' },
      merchants: { kind: 'payment', ground: 'payments', forget: 'empty' },
      jws: { kind: 'payment', ground: 'payments', forget: 'word' },
    },
    plain: ['mccs', 'countries', 'suspended_because'],
    about: { person: ['person_id'] },
  },
} as const satisfies Personal
