import type { Personal } from '../../values/personal.ts'

export const onboardingPersonal = {
  onboardings: {
    personal: {
      legal_name: { kind: 'name', ground: 'moneyLaundering', forget: 'word' },
      register_number: { kind: 'identity', ground: 'moneyLaundering', forget: 'word' },
      address: { kind: 'address', ground: 'moneyLaundering', forget: 'empty' },
      website: { kind: 'contact', ground: 'moneyLaundering', forget: 'null' },
      intended_use: { kind: 'words', ground: 'moneyLaundering', forget: 'word' },
      information_requests: { kind: 'words', ground: 'moneyLaundering', forget: 'empty' },
      reason: { kind: 'words', ground: 'moneyLaundering', forget: 'word' },
    },
    plain: ['legal_form'],
  },
  onboarding_representatives: {
    personal: {
      name: { kind: 'name', ground: 'moneyLaundering', forget: 'word' },
      date_of_birth: { kind: 'birth', ground: 'moneyLaundering', forget: { value: '1900-01-01' } },
      country: { kind: 'address', ground: 'moneyLaundering', forget: { value: 'ZZ' } },
      position: { kind: 'words', ground: 'moneyLaundering', forget: 'word' },
    },
    plain: ['onboarding_id'],
  },
  onboarding_beneficial_owners: {
    personal: {
      name: { kind: 'name', ground: 'moneyLaundering', forget: 'word' },
      date_of_birth: { kind: 'birth', ground: 'moneyLaundering', forget: { value: '1900-01-01' } },
      country: { kind: 'address', ground: 'moneyLaundering', forget: { value: 'ZZ' } },
    },
    plain: ['onboarding_id'],
  },
} as const satisfies Personal
