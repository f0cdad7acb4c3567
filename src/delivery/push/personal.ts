import type { Personal } from '../../values/personal.ts'

export const pushPersonal = {
  push_subscriptions: {
    personal: {
      endpoint: { kind: 'device', ground: 'security', forget: 'address' },
      label: { kind: 'words', ground: 'security', forget: 'word' },
    },
    plain: ['events'],
    secret: ['p256dh', 'auth'],
    about: { person: ['person_id'] },
  },
  pushes: {
    personal: {},
    plain: ['subscription_id', 'leased_by'],
  },
  vapid_keys: {
    personal: {},
    plain: ['public_key'],
    secret: ['private_key'],
    owner: null,
  },
} as const satisfies Personal
