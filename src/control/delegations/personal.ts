import type { Personal } from '../../values/personal.ts'

export const delegationsPersonal = {
  delegations: {
    personal: {
      label: { kind: 'words', ground: 'contract', forget: 'word' },
      merchant: { kind: 'payment', ground: 'contract', forget: 'word' },
    },
    plain: ['parent_delegation_id', 'ancestors', 'scopes', 'hint'],
    secret: ['code_hash'],
  },
} as const satisfies Personal
