import type { Personal } from '../../values/personal.ts'

export const consolePersonal = {
  console_sessions: {
    personal: {
      address: { kind: 'network', ground: 'security', forget: 'word' },
      user_agent: { kind: 'device', ground: 'security', forget: 'word' },
    },
    plain: ['hint', 'revoked_because'],
    secret: ['hash'],
    about: { person: ['person_id'] },
  },
} as const satisfies Personal
