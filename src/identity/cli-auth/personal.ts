import type { Personal } from '../../values/personal.ts'

export const cliAuthPersonal = {
  cli_pairings: {
    personal: {
      address: { kind: 'network', ground: 'security', forget: 'word' },
      device_name: { kind: 'device', ground: 'security', forget: 'word' },
      client: { kind: 'device', ground: 'security', forget: 'word' },
    },
    plain: ['scopes', 'key_id'],
    secret: ['hash', 'code_challenge', 'pairing_code'],
    about: { person: ['person_id'] },
  },
} as const satisfies Personal
