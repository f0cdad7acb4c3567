import { isDeepStrictEqual } from 'node:util'
import type { EmitContext } from '../../kernel/contract/context.ts'
import type { EntityManager } from '../../kernel/contract/entity-manager.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import type { PostalAddress } from '../../ports/card-processor.ts'
import { keysOf } from '../../values/collections.ts'
import type { customerVerifiedEvents } from './api.ts'
import { Customer, type KycStatus, kycStatusMachine } from './customer.ts'
import { customerEvent } from './customers.ts'

export interface VerifiedAccountHolder {
  readonly name: string
  readonly address: PostalAddress
}

export async function lockAccountHolder(em: EntityManager, ownerId: string): Promise<Customer> {
  const customer = await em.findOne(Customer, { id: ownerId }, FOR_UPDATE)
  if (!customer) throw new Error('an identity without a customer')
  return customer
}

/** Only this function writes `kycStatus`. Returns false, and changes nothing, if the transition is not allowed. */
function move(customer: Customer, to: KycStatus): boolean {
  const standing = { status: customer.kycStatus }
  if (!kycStatusMachine.move(standing, to)) return false
  customer.kycStatus = standing.status
  return true
}

/** Only identity checks call this, and they have locked the customer. */
export const moveKycStatus = (customer: Customer, to: Exclude<KycStatus, 'verified'>): boolean =>
  move(customer, to)

/** Allows live keys. The account and its cards take the verified name. */
export function verifyAccountHolder(
  customer: Customer,
  holder: VerifiedAccountHolder,
  { emit }: EmitContext<typeof customerVerifiedEvents>,
): void {
  if (!move(customer, 'verified')) return
  emit('customer.verified', customerEvent(customer))
  const verified = { name: holder.name, country: holder.address.country, address: holder.address }
  const names = keysOf(verified)
  const changed = names.filter(member => !isDeepStrictEqual(customer[member], verified[member]))
  if (changed.length === 0) return
  Object.assign(customer, verified)
  emit('cardholder.updated', { ...customerEvent(customer), changed })
}
