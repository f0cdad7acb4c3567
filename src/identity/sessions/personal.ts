import type { Personal } from '../../values/personal.ts'

export const sessionsPersonal = {
  sessions: {
    personal: {
      address: { kind: 'network', ground: 'security', forget: 'word' },
      device_id: { kind: 'device', ground: 'security', forget: 'pseudonym' },
      device_name: { kind: 'device', ground: 'security', forget: 'word' },
      client: { kind: 'device', ground: 'security', forget: 'word' },
    },
    plain: ['client_type', 'scopes', 'bound_to', 'shown_to', 'key_id'],
    secret: ['hash', 'user_hash'],
    about: { person: ['person_id'] },
  },
} as const satisfies Personal
