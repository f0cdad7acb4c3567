import type { Personal } from '../../values/personal.ts'

/** `by_id` is a key, or a person of the account. */
export const gdprPersonal = {
  consents: {
    personal: { by_id: { kind: 'name', ground: 'claims', forget: 'word' } },
    plain: ['purpose', 'wording_version', 'by_type'],
    about: { person: ['by_id'] },
  },
  gdpr_exports: {
    personal: { subject_id: { kind: 'name', ground: 'claims', forget: 'word' } },
    plain: ['subject_type'],
    about: {
      person: ['subject_id'],
      beneficiary: ['subject_id'],
      payer: ['subject_id'],
      merchant: ['subject_id'],
    },
  },
  /** Ids only: by them it is done again after a backup was restored. */
  gdpr_deletions: {
    personal: {},
    plain: ['subject_type', 'subject_id', 'waits_for', 'kept', 'place'],
  },
} as const satisfies Personal
