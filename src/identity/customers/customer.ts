import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, timestampColumns } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import type { CardHolder, PostalAddress } from '../../ports/card-processor.ts'
import { newId } from '../../values/ids.ts'

export const customerMachine = stateMachine('customer', {
  active: ['suspended'],
  suspended: ['active'],
})

export const customerTypes = ['individual', 'business'] as const
export const customerPlans = ['free', 'starter', 'business', 'enterprise'] as const

/** Who suspended the account: the operator, a deletion that may still fail, or a completed deletion, which is final. */
const suspenders = ['operator', 'deletion', 'forgotten'] as const
type Suspender = (typeof suspenders)[number]

export const kycStatusMachine = stateMachine('kyc', {
  none: ['pending'],
  pending: ['in_review', 'verified', 'rejected', 'none'],
  in_review: ['verified', 'rejected', 'none'],
  rejected: ['pending'],
  verified: [],
})
export type KycStatus = (typeof kycStatusMachine.states)[number]

/** The owner of the platform's ledger. The stored id is older than the name. */
export const PLATFORM_OWNER_ID = 'customer_house'

/** A customer owns tenants, so its record is the only one without a tenant. */
const schema = defineEntity({
  name: 'Customer',
  tableName: 'customers',
  ...personalTable({ owner: 'id' }),
  properties: {
    id: p
      .text()
      .primary()
      .onCreate(() => newId('customer')),
    ...timestampColumns(),
    name: personal(p.text(), 'name', 'vouchers', 'word'),
    email: personal(p.text(), 'contact', 'contract', 'word'),
    type: plain(p.enum(customerTypes)),
    country: personal(p.text(), 'address', 'vouchers', { value: 'ZZ' }),
    phone: personal(nullable.string(), 'contact', 'contract', 'null'),
    address: personal(nullable.json<PostalAddress>(), 'address', 'vouchers', 'null'),
    plan: plain(p.enum(customerPlans)),
    status: p.enum(customerMachine.states).onCreate(() => customerMachine.initial),
    suspendedBy: plain(nullable.enum(suspenders)),
    kycStatus: plain(p.enum(kycStatusMachine.states).onCreate(() => kycStatusMachine.initial)),
  },
})

export class Customer extends schema.class {
  /** Returns false if it was already suspended. The new cause still replaces the old one. */
  suspend(by: Suspender): boolean {
    this.suspendedBy = by
    return customerMachine.move(this, 'suspended')
  }

  resume(): boolean {
    this.suspendedBy = null
    return customerMachine.move(this, 'active')
  }

  isVerified(): boolean {
    return this.kycStatus === 'verified'
  }

  cardHolder(): CardHolder {
    const { name, email, type, phone, address } = this
    return { name, email, type, phone, address }
  }

  /** The tenant of the account's own events and audit trail. It is in test mode until live money is possible. */
  account(): Tenant {
    return { ownerId: this.id, mode: this.isVerified() ? 'live' : 'test' }
  }
}
schema.setClass(Customer)
