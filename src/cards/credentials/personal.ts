import type { Personal } from '../../values/personal.ts'

export const credentialsPersonal = {
  credentials: {
    personal: {},
    plain: ['key_thumbprint'],
  },
} as const satisfies Personal
