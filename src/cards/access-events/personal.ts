import type { Personal } from '../../values/personal.ts'

export const accessEventsPersonal = {
  access_events: {
    personal: {
      merchant_host: { kind: 'payment', ground: 'security', forget: 'word' },
      purpose: { kind: 'words', ground: 'security', forget: 'word' },
      address: { kind: 'network', ground: 'security', forget: 'word' },
      actor_id: { kind: 'name', ground: 'security', forget: 'word' },
    },
    plain: ['actor_type', 'way', 'source_id', 'decision', 'reasons', 'key_thumbprint'],
    about: { person: ['actor_id'] },
  },
  access_outcomes: {
    personal: {
      message: { kind: 'words', ground: 'security', forget: 'word' },
    },
    plain: ['outcome', 'code'],
  },
} as const satisfies Personal
