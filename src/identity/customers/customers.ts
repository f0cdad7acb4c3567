import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { area } from '../../kernel/contract/area.ts'
import type { Context, WriteContext } from '../../kernel/contract/context.ts'
import type { EntityManager, EntityReader } from '../../kernel/contract/entity-manager.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { keysOf } from '../../values/collections.ts'
import {
  type CustomerCreateBody,
  type CustomerUpdateBody,
  type customerChangeEvents,
  customersApi,
  holderSchema,
} from './api.ts'
import { Customer, customerMachine, kycStatusMachine, PLATFORM_OWNER_ID } from './customer.ts'

export const addCustomer = (
  em: EntityManager,
  id: string,
  members: z.output<typeof CustomerCreateBody>,
): Customer => em.create(Customer, { id, ...members })

export const findCustomer = (em: EntityReader, id: string): Promise<Customer> =>
  em.findOneOrFail(Customer, { id })
interface Moved {
  readonly customer: Customer
  readonly isChanged: boolean
}

async function lockOwner({ em, tenant }: WriteContext): Promise<Customer> {
  const customer = await em.findOne(Customer, { id: tenant.ownerId }, FOR_UPDATE)
  if (!customer) throw new Error('a tenant without a customer')
  return customer
}

const moved = (customer: Customer, isChanged: boolean): Moved => ({ customer, isChanged })

export async function suspendCustomerForDeletion(context: WriteContext): Promise<Moved> {
  const customer = await lockOwner(context)
  return moved(customer, customer.status === 'active' && customer.suspend('deletion'))
}

/** Resumes the account after a deletion that failed, unless the operator has suspended it meanwhile. */
export async function resumeCustomerAfterDeletion(context: WriteContext): Promise<Moved> {
  const customer = await lockOwner(context)
  return moved(customer, customer.suspendedBy === 'deletion' && customer.resume())
}

export async function closeCustomerForDeletion(context: WriteContext): Promise<Moved> {
  const customer = await lockOwner(context)
  return moved(customer, customer.suspend('forgotten'))
}

export const customerEvent = ({ id, status, plan }: Customer) => ({ customerId: id, status, plan })

type Changes = z.output<typeof CustomerUpdateBody>
type ChangeContext = Context<never, typeof customerChangeEvents>

const isHolderData = (name: string): boolean => name in holderSchema.shape

function applyChanges(customer: Customer, changes: Changes, { switchTenant, emit }: ChangeContext): Customer {
  switchTenant(customer.account())
  const { status, ...members } = changes
  const names = keysOf(changes)
  const changed = names.filter(name => !isDeepStrictEqual(changes[name], customer[name]))
  Object.assign(customer, members)
  if (status === 'active') customer.resume()
  if (status === 'suspended' && customer.suspendedBy !== 'forgotten') customer.suspend('operator')
  const data = { ...customerEvent(customer), changed }
  if (changed.some(isHolderData)) emit('cardholder.updated', data)
  if (!changed.every(isHolderData)) emit('customer.updated', data)
  return customer
}

const customers = bindHandlers(customersApi, {
  list: ({ query: { status, plan, email } }, { page }) =>
    page(Customer, { ...definedOnly({ status, plan, email }), id: { $ne: PLATFORM_OWNER_ID } }),

  me: (_, { em, tenant }) => findCustomer(em, tenant.ownerId),

  async updateMe({ body }, context) {
    const customer = await context.em.findOne(Customer, { id: context.tenant.ownerId }, FOR_UPDATE)
    if (!customer) throw new Error('a key without a customer')
    if (customer.isVerified() && (body.name ?? customer.name) !== customer.name)
      return context.refuse('name_verified')
    return applyChanges(customer, body, context)
  },

  get: getRecord(Customer, 'customer_not_found'),

  async update({ params, body }, context) {
    const customer = await context.em.findOne(Customer, { id: params.id }, FOR_UPDATE)
    if (!customer) return context.refuse('customer_not_found')
    const isWoken = body.status === 'active' && customer.suspendedBy === 'forgotten'
    return isWoken ? context.refuse('account_forgotten') : applyChanges(customer, body, context)
  },
})

export const customersArea = area(
  'Customers',
  'The owners of accounts: identity, plan and status.',
  customers,
  {
    entities: [Customer],
    machines: [customerMachine, kycStatusMachine],
    endsCredentials: ['customer.updated'],
  },
)

const NAMES = 'select id, name from customers where id = any($1::text[])'

export async function readHolderNames(
  sql: Sql,
  ownerIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ownerIds.length === 0) return new Map()
  const rows = await sql<{ id: string; name: string } & Row>(NAMES, [[...new Set(ownerIds)]])
  return new Map(rows.map(({ id, name }) => [id, name]))
}

const LOCK_ONLY_CUSTOMER = `select pg_advisory_xact_lock(hashtextextended('only customer', 0))`
const COUNT = `
select count(*)::int as count from customers
where id <> '${PLATFORM_OWNER_ID}' and suspended_by is distinct from 'forgotten'`

/** Customers whose data was not deleted. */
export async function countCustomers(sql: Sql): Promise<number> {
  const [row] = await sql<Row & { count: number }>(COUNT, [])
  return row?.count ?? 0
}

/** Concurrent requests for the only account wait for each other, so that one of them opens it. */
export async function hasCustomerAfterLock(sql: Sql): Promise<boolean> {
  await sql(LOCK_ONLY_CUSTOMER, [])
  return (await countCustomers(sql)) > 0
}

const FORGOTTEN = `select id from customers where id = any($1::text[]) and suspended_by = 'forgotten'`

/** Finds forgotten owners among these, whose credentials must not work. */
export async function findForgottenOwners(sql: Sql, ids: readonly string[]): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set()
  const rows = await sql<Row & { id: string }>(FORGOTTEN, [[...new Set(ids)]])
  return new Set(rows.map(({ id }) => id))
}
