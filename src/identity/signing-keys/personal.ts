import type { Personal } from '../../values/personal.ts'

export const signingKeysPersonal = {
  signing_keys: {
    personal: {},
    plain: ['kid', 'x'],
    secret: ['private_key'],
  },
} as const satisfies Personal
