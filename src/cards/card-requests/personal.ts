import type { Personal } from '../../values/personal.ts'

export const cardRequestsPersonal = {
  card_requests: {
    personal: {
      display_name: { kind: 'words', ground: 'contract', forget: 'word' },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
      comment: { kind: 'words', ground: 'contract', forget: 'word' },
      answered_by: { kind: 'name', ground: 'contract', forget: { members: '{"id":null,"name":null}' } },
      controls: { kind: 'payment', ground: 'contract', forget: 'null' },
    },
    plain: ['type', 'usage', 'failure_reason'],
    about: { person: ["answered_by ->> 'id'"] },
  },
} as const satisfies Personal
