import type { Personal } from '../../values/personal.ts'

export const securityIncidentsPersonal = {
  security_incidents: {
    personal: {
      description: { kind: 'words', ground: 'security' },
      decisions: { kind: 'name', ground: 'security' },
      fields: { kind: 'contact', ground: 'security' },
    },
    plain: ['severity', 'category', 'countries', 'criteria', 'reports', 'reminded'],
  },
} as const satisfies Personal
