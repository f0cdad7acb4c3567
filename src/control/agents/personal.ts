import type { Personal } from '../../values/personal.ts'

export const agentsPersonal = {
  agents: {
    personal: {
      name: { kind: 'words', ground: 'contract' },
      description: { kind: 'words', ground: 'contract' },
      external_id: { kind: 'words', ground: 'contract' },
      frozen_reason: { kind: 'words', ground: 'contract' },
      metadata: { kind: 'words', ground: 'contract' },
    },
    plain: ['policy_id', 'frozen_by_alert_id'],
  },
} as const satisfies Personal
