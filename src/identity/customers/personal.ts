import type { Personal } from '../../values/personal.ts'

export const customersPersonal = {
  customers: {
    personal: {
      name: { kind: 'name', ground: 'vouchers', forget: 'word' },
      email: { kind: 'contact', ground: 'contract', forget: 'word' },
      phone: { kind: 'contact', ground: 'contract', forget: 'null' },
      address: { kind: 'address', ground: 'vouchers', forget: 'null' },
      country: { kind: 'address', ground: 'vouchers', forget: { value: 'ZZ' } },
    },
    plain: ['type', 'plan', 'suspended_by', 'kyc_status'],
    owner: 'id',
  },
} as const satisfies Personal
