import type { Personal } from '../../values/personal.ts'

export const beneficiariesPersonal = {
  beneficiaries: {
    personal: {
      name: { kind: 'name', ground: 'contract' },
      sepa_name: { kind: 'name', ground: 'contract' },
      verification: { kind: 'name', ground: 'contract' },
      iban: { kind: 'account', ground: 'contract' },
      bic: { kind: 'account', ground: 'contract' },
      country: { kind: 'address', ground: 'contract' },
      email: { kind: 'contact', ground: 'contract' },
    },
    plain: ['duplicate_of'],
    about: { beneficiary: ['id'] },
  },
} as const satisfies Personal
