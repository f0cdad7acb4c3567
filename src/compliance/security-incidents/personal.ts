import type { Personal } from '../../values/personal.ts'

export const securityIncidentsPersonal = {
  security_incidents: {
    personal: {
      description: { kind: 'words', ground: 'security', forget: 'word' },
      decisions: { kind: 'name', ground: 'security', forget: 'empty' },
      fields: { kind: 'contact', ground: 'security', forget: 'empty' },
    },
    plain: ['severity', 'category', 'countries', 'criteria', 'reports', 'reminded'],
  },
} as const satisfies Personal
