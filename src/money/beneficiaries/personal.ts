import type { Personal } from '../../values/personal.ts'

export const beneficiariesPersonal = {
  beneficiaries: {
    personal: {
      name: { kind: 'name', ground: 'contract', forget: 'word' },
      sepa_name: { kind: 'name', ground: 'contract', forget: { value: 'Forgotten' } },
      verification: { kind: 'name', ground: 'contract', forget: 'null' },
      iban: { kind: 'account', ground: 'contract', forget: 'iban' },
      bic: { kind: 'account', ground: 'contract', forget: 'null' },
      country: { kind: 'address', ground: 'contract', forget: { value: 'ZZ' } },
      email: { kind: 'contact', ground: 'contract', forget: 'null' },
    },
    plain: ['duplicate_of'],
    about: { beneficiary: ['id'] },
  },
} as const satisfies Personal
