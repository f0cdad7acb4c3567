import type { Personal } from '../../values/personal.ts'

export const cardRequestsPersonal = {
  card_requests: {
    personal: {
      display_name: { kind: 'words', ground: 'contract' },
      reason: { kind: 'words', ground: 'contract' },
      comment: { kind: 'words', ground: 'contract' },
      answered_by: { kind: 'name', ground: 'contract' },
      controls: { kind: 'payment', ground: 'contract' },
    },
    plain: ['type', 'usage', 'failure_reason'],
    about: { person: ["answered_by ->> 'id'"] },
  },
} as const satisfies Personal
