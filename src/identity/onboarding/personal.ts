import type { Personal } from '../../values/personal.ts'

export const onboardingPersonal = {
  onboardings: {
    personal: {
      legal_name: { kind: 'name', ground: 'moneyLaundering' },
      register_number: { kind: 'identity', ground: 'moneyLaundering' },
      address: { kind: 'address', ground: 'moneyLaundering' },
      website: { kind: 'contact', ground: 'moneyLaundering' },
      intended_use: { kind: 'words', ground: 'moneyLaundering' },
      information_requests: { kind: 'words', ground: 'moneyLaundering' },
      reason: { kind: 'words', ground: 'moneyLaundering' },
    },
    plain: ['legal_form'],
  },
  onboarding_representatives: {
    personal: {
      name: { kind: 'name', ground: 'moneyLaundering' },
      date_of_birth: { kind: 'birth', ground: 'moneyLaundering' },
      country: { kind: 'address', ground: 'moneyLaundering' },
      position: { kind: 'words', ground: 'moneyLaundering' },
    },
    plain: ['onboarding_id'],
  },
  onboarding_beneficial_owners: {
    personal: {
      name: { kind: 'name', ground: 'moneyLaundering' },
      date_of_birth: { kind: 'birth', ground: 'moneyLaundering' },
      country: { kind: 'address', ground: 'moneyLaundering' },
    },
    plain: ['onboarding_id'],
  },
} as const satisfies Personal
