import type { Personal } from '../../values/personal.ts'

export const peoplePersonal = {
  people: {
    personal: {
      name: { kind: 'name', ground: 'payments' },
      email: { kind: 'contact', ground: 'contract' },
    },
    plain: ['role'],
    about: { person: ['id'] },
  },
  person_links: {
    personal: {},
    plain: ['kind', 'recovery_id'],
    secret: ['hash'],
  },
  recoveries: {
    personal: {
      stopped_by: { kind: 'name', ground: 'security' },
      reason: { kind: 'words', ground: 'security' },
    },
    plain: [],
    about: { person: ['person_id', "stopped_by ->> 'id'"] },
  },
} as const satisfies Personal
