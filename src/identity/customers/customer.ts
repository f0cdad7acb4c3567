import { defineEntity, p } from '@mikro-orm/core'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { machine } from '../../kernel/contract/machine.ts'
import { stamps } from '../../kernel/database/entity.ts'
import { newId } from '../../values/ids.ts'

export const customerMachine = machine('customer', {
  active: ['suspended'],
  suspended: ['active'],
})

export const types = ['individual', 'business'] as const
export const plans = ['free', 'starter', 'business', 'enterprise'] as const
export const kycStatuses = ['none', 'pending', 'in_review', 'verified', 'rejected'] as const

/** The platform itself as an owner, on whose ledger lies what belongs to nobody else yet. The stored id is older than the name. */
export const PLATFORM_OWNER = 'customer_house'

/** The owner of tenants, and so the one record that belongs to none. */
const schema = defineEntity({
  name: 'Customer',
  tableName: 'customers',
  properties: {
    id: p
      .text()
      .primary()
      .onCreate(() => newId('customer')),
    ...stamps(),
    name: p.text(),
    email: p.text(),
    type: p.enum(types),
    country: p.text(),
    plan: p.enum(plans),
    status: p.enum(customerMachine.states).onCreate(() => customerMachine.initial),
    kycStatus: p.enum(kycStatuses).onCreate(() => 'none' as const),
  },
})

export class Customer extends schema.class {
  isVerified(): boolean {
    return this.kycStatus === 'verified'
  }

  /** Where what happens to the account is recorded: it is about test data until it can be about money. */
  account(): Tenant {
    return { ownerId: this.id, mode: this.isVerified() ? 'live' : 'test' }
  }
}
schema.setClass(Customer)
