import type { Personal } from '../../values/personal.ts'

export const webhooksPersonal = {
  webhooks: {
    personal: {
      url: { kind: 'contact', ground: 'contract', forget: 'address' },
      description: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['events', 'status_reason', 'hint', 'next_hint', 'backlog_after', 'backlog_wanted'],
    secret: ['secret', 'next_secret'],
  },
  deliveries: {
    personal: {
      attempts: { kind: 'words', ground: 'security', forget: 'empty' },
    },
    plain: ['event', 'leased_by'],
  },
} as const satisfies Personal
