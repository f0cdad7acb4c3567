import type { Personal } from '../../values/personal.ts'

export const agentsPersonal = {
  agents: {
    personal: {
      name: { kind: 'words', ground: 'contract', forget: 'word' },
      description: { kind: 'words', ground: 'contract', forget: 'word' },
      external_id: { kind: 'words', ground: 'contract', forget: 'pseudonym' },
      frozen_reason: { kind: 'words', ground: 'contract', forget: 'word' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
    },
    plain: ['policy_id', 'frozen_by_alert_id'],
  },
} as const satisfies Personal
