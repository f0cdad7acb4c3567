import type { Personal } from '../../values/personal.ts'

export const customersPersonal = {
  customers: {
    personal: {
      name: { kind: 'name', ground: 'vouchers' },
      email: { kind: 'contact', ground: 'contract' },
      phone: { kind: 'contact', ground: 'contract' },
      address: { kind: 'address', ground: 'vouchers' },
      country: { kind: 'address', ground: 'vouchers' },
    },
    plain: ['type', 'plan', 'kyc_status'],
    owner: 'id',
  },
} as const satisfies Personal
