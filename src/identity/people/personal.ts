import type { Personal } from '../../values/personal.ts'

export const peoplePersonal = {
  people: {
    personal: {
      name: { kind: 'name', ground: 'payments', forget: 'word' },
      email: { kind: 'contact', ground: 'contract', forget: 'null' },
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
      stopped_by: { kind: 'name', ground: 'security', forget: { members: '{"id":null,"name":null}' } },
      reason: { kind: 'words', ground: 'security', forget: 'word' },
    },
    plain: [],
    about: { person: ['person_id', "stopped_by ->> 'id'"] },
  },
} as const satisfies Personal
