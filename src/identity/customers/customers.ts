import { isDeepStrictEqual } from 'node:util'
import type { z } from 'zod'
import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import type { Records } from '../../kernel/contract/records.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { type CustomerChange, type CustomerJoin, type changeEvents, customersApi, holder } from './api.ts'
import { Customer, customerMachine, kycMachine, PLATFORM_OWNER } from './customer.ts'
import { customersPersonal } from './personal.ts'

/** Creates a customer; the caller must already act for it. */
export const addCustomer = (records: Records, id: string, members: z.output<typeof CustomerJoin>): Customer =>
  records.create(Customer, { id, ...members })

export const findCustomer = (records: Records, id: string): Promise<Customer> =>
  records.findOneOrFail(Customer, { id })

/** Suspends the account, or lets it act again; false where it is so already. */
export const moveCustomer = (customer: Customer, status: Customer['status']): boolean =>
  customerMachine.move(customer, status)

export const customerEvent = ({ id, status, plan }: Customer) => ({ customerId: id, status, plan })

type Changes = z.output<typeof CustomerChange>
type ChangeContext = Pick<Context<never, typeof changeEvents>, 'actFor' | 'emit'>

const isHolderData = (name: string): boolean => name in holder.shape

function applyChanges(customer: Customer, changes: Changes, { actFor, emit }: ChangeContext): Customer {
  actFor(customer.account())
  const { status, ...members } = changes
  const names = Object.keys(changes) as (keyof Changes)[]
  const changed = names.filter(name => !isDeepStrictEqual(changes[name], customer[name]))
  Object.assign(customer, members)
  if (status) customerMachine.move(customer, status)
  const data = { ...customerEvent(customer), changed }
  if (changed.some(isHolderData)) emit('cardholder.updated', data)
  if (!changed.every(isHolderData)) emit('customer.updated', data)
  return customer
}

const customers = implement(customersApi, {
  list: ({ query: { status, plan, email } }, { page }) =>
    page(Customer, { ...definedOnly({ status, plan, email }), id: { $ne: PLATFORM_OWNER } }),

  me: (_, { records, tenant }) => findCustomer(records, tenant.ownerId),

  async updateMe({ body }, context) {
    const customer = await context.records.lock(Customer, context.tenant.ownerId)
    if (!customer) throw new Error('a key without a customer')
    if (customer.isVerified() && (body.name ?? customer.name) !== customer.name)
      return context.refuse('name_verified')
    return applyChanges(customer, body, context)
  },

  async get({ params }, { records, refuse }) {
    return (await records.findOne(Customer, { id: params.id })) ?? refuse('customer_not_found')
  },

  async update({ params, body }, context) {
    const customer = await context.records.lock(Customer, params.id)
    return customer ? applyChanges(customer, body, context) : context.refuse('customer_not_found')
  },
})

export const customersArea = area(
  'Customers',
  'The owners of accounts: who they are, their plan, whether they may act.',
  customers,
  {
    personal: customersPersonal,
    entities: [Customer],
    machines: [customerMachine, kycMachine],
    endsCredentials: ['customer.updated'],
  },
)
