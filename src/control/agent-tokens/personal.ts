import type { Personal } from '../../values/personal.ts'

export const agentTokensPersonal = {
  agent_tokens: {
    personal: {
      label: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['hint', 'scopes', 'bound_to'],
    secret: ['hash'],
  },
} as const satisfies Personal
