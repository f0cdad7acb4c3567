import type { Personal } from '../../values/personal.ts'

export const eventsPersonal = {
  events: {
    personal: {
      data: { kind: 'payment', ground: 'contract', forget: 'committed' },
      address: { kind: 'network', ground: 'security', forget: 'committed' },
      actor_id: { kind: 'name', ground: 'contract', forget: 'committed' },
    },
    plain: ['event', 'actor_type', 'action', 'outcome', 'resource_id', 'audit_id'],
    about: {
      person: ['resource_id', 'actor_id', "data ->> 'personId'"],
      beneficiary: ['resource_id', "data ->> 'beneficiaryId'"],
      payer: ['resource_id', "data ->> 'requestId'"],
      merchant: ['resource_id', "data ->> 'merchantId'"],
    },
  },
  event_streams: {
    personal: {},
    plain: ['leased_by'],
  },
} as const satisfies Personal
