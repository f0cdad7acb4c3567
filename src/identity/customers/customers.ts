import type { EntityManager } from '@mikro-orm/postgresql'
import type { z } from 'zod'
import { area } from '../../kernel/contract/area.ts'
import type { Context } from '../../kernel/contract/context.ts'
import { implement } from '../../kernel/contract/operation.ts'
import { definedOnly } from '../../kernel/database/entity.ts'
import { type CustomerChange, type CustomerJoin, type changeEvents, customersApi, holder } from './api.ts'
import { Customer, customerMachine, PLATFORM_OWNER } from './customer.ts'

/** Creates a customer; the caller must already act for it. */
export const addCustomer = (
  em: EntityManager,
  id: string,
  members: z.output<typeof CustomerJoin>,
): Customer => em.create(Customer, { id, ...members })

export const findCustomer = (em: EntityManager, id: string): Promise<Customer> =>
  em.findOneOrFail(Customer, { id })

export const customerEvent = ({ id, status, plan }: Customer) => ({ customerId: id, status, plan })

const LOCK = 'select id from customers where id = $1 for no key update'

/** `no key update` does not block inserts that refer to the customer: waiting for those could deadlock. */
async function lockCustomer({ em, sql }: Pick<Context, 'em' | 'sql'>, id: string): Promise<Customer | null> {
  await sql(LOCK, [id])
  return em.findOne(Customer, { id }, { refresh: true })
}

type Changes = z.output<typeof CustomerChange>
type ChangeContext = Pick<Context<never, typeof changeEvents>, 'actFor' | 'emit'>

const isHolderData = (name: string): boolean => name in holder.shape

function applyChanges(customer: Customer, changes: Changes, { actFor, emit }: ChangeContext): Customer {
  actFor(customer.account())
  const { status, ...members } = changes
  const names = Object.keys(changes) as (keyof Changes)[]
  const changed = names.filter(name => changes[name] !== customer[name])
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

  me: (_, { em, tenant }) => findCustomer(em, tenant.ownerId),

  async updateMe({ body }, context) {
    const customer = await lockCustomer(context, context.tenant.ownerId)
    if (!customer) throw new Error('a key without a customer')
    return applyChanges(customer, body, context)
  },

  async get({ params }, { em, refuse }) {
    return (await em.findOne(Customer, { id: params.id })) ?? refuse('customer_not_found')
  },

  async update({ params, body }, context) {
    const customer = await lockCustomer(context, params.id)
    return customer ? applyChanges(customer, body, context) : context.refuse('customer_not_found')
  },
})

export const customersArea = area(
  'Customers',
  'The owners of accounts: who they are, their plan, whether they may act.',
  customers,
  { entities: [Customer], machines: [customerMachine], endsCredentials: ['customer.updated'] },
)
