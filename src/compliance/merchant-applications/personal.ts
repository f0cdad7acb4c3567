import type { Personal } from '../../values/personal.ts'

export const merchantApplicationsPersonal = {
  merchant_applications: {
    personal: {
      name: { kind: 'name', ground: 'contract' },
      legal_name: { kind: 'name', ground: 'contract' },
      website: { kind: 'contact', ground: 'contract' },
      contact_name: { kind: 'name', ground: 'contract' },
      contact_email: { kind: 'contact', ground: 'contract' },
      reason: { kind: 'words', ground: 'contract' },
    },
    plain: ['country', 'mcc', 'public_key_jwk'],
  },
  merchant_keys: {
    personal: {},
    plain: ['merchant_id', 'hint'],
    secret: ['hash'],
  },
} as const satisfies Personal
