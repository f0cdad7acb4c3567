import type { Personal } from '../../values/personal.ts'

export const keysPersonal = {
  keys: {
    personal: {
      name: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['environment', 'hint', 'scopes', 'made_by_id', 'bound_to'],
    about: { person: ['person_id'] },
    secret: ['hash'],
  },
} as const satisfies Personal
