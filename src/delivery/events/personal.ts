import type { Personal } from '../../values/personal.ts'

export const eventsPersonal = {
  events: {
    personal: {
      data: { kind: 'payment', ground: 'payments' },
      address: { kind: 'network', ground: 'security' },
      actor_id: { kind: 'name', ground: 'payments' },
    },
    plain: ['event', 'actor_type', 'action', 'outcome', 'resource_id', 'audit_id'],
    about: {
      person: ['resource_id', 'actor_id', "data ->> 'personId'"],
      beneficiary: ['resource_id', "data ->> 'beneficiaryId'"],
      payer: ['resource_id', "data ->> 'requestId'"],
    },
  },
  audit_entries: {
    personal: {
      address: { kind: 'network', ground: 'security' },
      actor_id: { kind: 'name', ground: 'payments' },
    },
    plain: ['actor_type', 'action', 'event', 'outcome', 'resource_id'],
    about: { person: ['resource_id', 'actor_id'], beneficiary: ['resource_id'], payer: ['resource_id'] },
  },
  event_streams: {
    personal: {},
    plain: ['leased_by'],
  },
} as const satisfies Personal
