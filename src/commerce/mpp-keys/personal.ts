import type { Personal } from '../../values/personal.ts'

export const mppKeysPersonal = {
  mpp_keys: {
    personal: {},
    plain: ['kid', 'modulus'],
    secret: ['secret', 'private_key'],
  },
} as const satisfies Personal
