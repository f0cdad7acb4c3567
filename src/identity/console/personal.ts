import type { Personal } from '../../values/personal.ts'

export const consolePersonal = {
  console_sessions: {
    personal: {
      address: { kind: 'network', ground: 'security' },
      user_agent: { kind: 'device', ground: 'security' },
    },
    plain: ['hint', 'revoked_because'],
    secret: ['hash'],
    about: { person: ['person_id'] },
  },
} as const satisfies Personal
