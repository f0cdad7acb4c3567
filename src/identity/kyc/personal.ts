import type { Personal } from '../../values/personal.ts'

export const kycPersonal = {
  kyc_submissions: {
    personal: {
      name: { kind: 'name', ground: 'moneyLaundering', forget: 'word' },
      date_of_birth: { kind: 'birth', ground: 'moneyLaundering', forget: { value: '1900-01-01' } },
      nationality: { kind: 'identity', ground: 'moneyLaundering', forget: { value: 'ZZ' } },
      address: { kind: 'address', ground: 'moneyLaundering', forget: 'empty' },
      rejection: { kind: 'words', ground: 'moneyLaundering', forget: { value: '{}' } },
    },
    plain: ['representative_id', 'provider', 'decided_by'],
  },
  kyc_documents: {
    personal: {
      sha256: { kind: 'identity', ground: 'moneyLaundering', forget: 'digest' },
    },
    plain: ['submission_id', 'kind', 'type'],
    files: ['sha256'],
  },
} as const satisfies Personal
