import type { Personal } from '../../values/personal.ts'

export const passkeysPersonal = {
  passkeys: {
    personal: {
      name: { kind: 'device', ground: 'security', forget: 'word' },
      aaguid: {
        kind: 'device',
        ground: 'security',
        forget: { value: '00000000-0000-0000-0000-000000000000' },
      },
      credential_id: { kind: 'device', ground: 'payments', forget: 'pseudonym' },
      public_key: { kind: 'device', ground: 'payments', forget: 'word' },
      public_key_jwk: { kind: 'device', ground: 'payments', forget: 'empty' },
    },
    plain: ['algorithm', 'transports', 'enrolled_by'],
    about: { person: ['person_id'] },
  },
  passkey_challenges: {
    personal: {
      statement: { kind: 'payment', ground: 'security', forget: 'empty' },
      openings: { kind: 'payment', ground: 'security', forget: 'empty' },
    },
    plain: ['kind', 'subject_id', 'authority', 'authority_id'],
    about: { person: ['person_id'] },
  },
  enrolment_grants: {
    personal: {},
    plain: ['kind'],
  },
} as const satisfies Personal
