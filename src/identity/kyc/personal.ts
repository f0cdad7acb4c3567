import type { Personal } from '../../values/personal.ts'

export const kycPersonal = {
  kyc_submissions: {
    personal: {
      name: { kind: 'name', ground: 'moneyLaundering' },
      date_of_birth: { kind: 'birth', ground: 'moneyLaundering' },
      nationality: { kind: 'identity', ground: 'moneyLaundering' },
      address: { kind: 'address', ground: 'moneyLaundering' },
      rejection: { kind: 'words', ground: 'moneyLaundering' },
    },
    plain: ['representative_id', 'provider', 'decided_by'],
  },
  kyc_documents: {
    personal: {
      sha256: { kind: 'identity', ground: 'moneyLaundering' },
    },
    plain: ['submission_id', 'kind', 'type'],
    files: ['sha256'],
  },
} as const satisfies Personal
