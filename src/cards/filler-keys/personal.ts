import type { Personal } from '../../values/personal.ts'

export const fillerKeysPersonal = {
  filler_keys: {
    personal: {
      label: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['thumbprint', 'alg', 'public_key_jwk'],
  },
} as const satisfies Personal
