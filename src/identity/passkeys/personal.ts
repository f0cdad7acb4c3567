import type { Personal } from '../../values/personal.ts'

export const passkeysPersonal = {
  passkeys: {
    personal: {
      name: { kind: 'device', ground: 'security' },
      aaguid: { kind: 'device', ground: 'security' },
      credential_id: { kind: 'device', ground: 'payments' },
      public_key: { kind: 'device', ground: 'payments' },
      public_key_jwk: { kind: 'device', ground: 'payments' },
    },
    plain: ['algorithm', 'transports', 'enrolled_by'],
    about: { person: ['person_id'] },
  },
  passkey_challenges: {
    personal: {
      statement: { kind: 'payment', ground: 'security' },
      openings: { kind: 'payment', ground: 'security' },
    },
    plain: ['kind', 'subject_id', 'authority', 'authority_id'],
    about: { person: ['person_id'] },
  },
  enrolment_grants: {
    personal: {},
    plain: ['kind'],
  },
} as const satisfies Personal
