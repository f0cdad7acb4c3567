import type { Personal } from '../../values/personal.ts'

export const mandatesPersonal = {
  mandates: {
    personal: {
      name: { kind: 'words', ground: 'payments' },
      comment: { kind: 'words', ground: 'payments' },
      merchants: { kind: 'payment', ground: 'payments' },
      jws: { kind: 'payment', ground: 'payments' },
    },
    plain: ['mccs', 'countries', 'suspended_because'],
    about: { person: ['person_id'] },
  },
} as const satisfies Personal
