import type { Personal } from '../../values/personal.ts'

export const merchantApplicationsPersonal = {
  merchant_applications: {
    personal: {
      name: { kind: 'name', ground: 'contract', forget: 'word' },
      legal_name: { kind: 'name', ground: 'contract', forget: 'word' },
      website: { kind: 'contact', ground: 'contract', forget: 'word' },
      contact_name: { kind: 'name', ground: 'contract', forget: 'word' },
      contact_email: { kind: 'contact', ground: 'contract', forget: 'word' },
      reason: { kind: 'words', ground: 'contract', forget: 'word' },
    },
    plain: ['country', 'mcc', 'public_key_jwk'],
    about: { merchant: ['id'] },
  },
  merchant_keys: {
    personal: {},
    plain: ['merchant_id', 'hint'],
    secret: ['hash'],
  },
} as const satisfies Personal
