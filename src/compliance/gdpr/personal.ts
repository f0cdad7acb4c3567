import type { Personal } from '../../values/personal.ts'

/** `by_id` is a key, or a person of the account. */
export const gdprPersonal = {
  consents: {
    personal: { by_id: { kind: 'name', ground: 'claims' } },
    plain: ['purpose', 'wording_version', 'by_type'],
    about: { person: ['by_id'] },
  },
  gdpr_exports: {
    personal: { subject_id: { kind: 'name', ground: 'claims' } },
    plain: ['subject_type'],
    about: { person: ['subject_id'], beneficiary: ['subject_id'], payer: ['subject_id'] },
  },
} as const satisfies Personal
