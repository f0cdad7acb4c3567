import { z } from 'zod'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { id } from '../../values/ids.ts'
import {
  countrySchema,
  emailSchema,
  labelSchema,
  PostalAddressRecord,
  phoneSchema,
  postalAddressSchema,
  recordTimestamps,
} from '../../values/schemas.ts'
import { customerMachine, customerPlans, customerTypes, kycStatusMachine } from './customer.ts'

const status = z.enum(customerMachine.states)
const plan = z.enum(customerPlans)

/** The holder's own data, which is also on cards, so a change emits `cardholder.updated`. */
export const holderSchema = z.strictObject({
  name: labelSchema.meta({ examples: ['Ada Lovelace'] }),
  email: emailSchema,
  country: countrySchema.meta({
    description: 'Where the customer lives or is registered, ISO 3166 alpha-2.',
  }),
  phone: phoneSchema.nullable().meta({
    description: 'Phone number in international form. The issuer of live cards needs it for 3-D Secure.',
  }),
  address: postalAddressSchema.nullable().meta({
    description: 'Where the customer lives or is registered. The issuer of live cards needs it.',
  }),
})

export const CustomerCreateBody = holderSchema.extend({
  type: z.enum(customerTypes),
  plan: plan.default('free'),
  phone: holderSchema.shape.phone.default(null),
  address: holderSchema.shape.address.default(null),
})

export const CustomerRecord = z
  .object({
    id: id('customer').meta({ description: 'The `ownerId` of every record of this customer.' }),
    name: z.string(),
    email: z.string(),
    type: z.enum(customerTypes),
    country: z.string(),
    phone: z.string().nullable(),
    address: PostalAddressRecord.nullable(),
    plan,
    status: status.meta({ description: 'The keys and tokens of a suspended customer do not work.' }),
    kycStatus: z.enum(kycStatusMachine.states).meta({
      description: 'Live keys can be created once it is `verified`. GET /kyc/status lists what is missing.',
    }),
    ...recordTimestamps,
  })
  .meta({ id: 'Customer' })

export const CustomerEvent = z.object({ customerId: id('customer'), status, plan })

const CustomerChanged = CustomerEvent.extend({
  changed: z.array(z.string()).meta({ description: 'The changed fields.' }),
})

export const CustomerUpdateBody = holderSchema.extend({ plan, status }).partial()
export const customerChangeEvents = {
  'cardholder.updated': declareEvent(
    'The name, email, country, phone number or address of the account holder has changed.',
    CustomerChanged,
  ),
  'customer.updated': declareEvent('The data, plan or status of the account have changed.', CustomerChanged),
}

export const customerVerifiedEvents = {
  'customer.verified': declareEvent(
    'The identity of the account holder is verified: live keys can be created.',
    CustomerEvent,
  ),
  'cardholder.updated': customerChangeEvents['cardholder.updated'],
}

const fails = { customer_not_found: notFound('customer') } as const satisfies Record<string, RefusalSpec>

const twoEvents =
  'Another name, email, country, phone number or address emits `cardholder.updated`, anything else `customer.updated`: in test mode until the customer is verified, then in live mode.'

const readers = operationsFor({ callers: ['key'], scope: 'customers:read' })
const writers = operationsFor({ callers: ['key'], scope: 'customers:write' })

export const customersApi = {
  list: operator.list('/customers', {
    summary: 'List customers',
    filters: { status: status.optional(), plan: plan.optional(), email: emailSchema.optional() },
    item: CustomerRecord,
  }),
  me: readers.get('/customers/me', {
    summary: 'Get the account that your key belongs to',
    returns: [200, CustomerRecord],
  }),
  updateMe: writers.patch('/customers/me', {
    summary: 'Change your own name, email, country, phone number or address',
    description: twoEvents,
    body: holderSchema.partial(),
    example: {
      email: 'accounts@example.com',
      address: {
        line1: 'Torstraße 1',
        line2: 'c/o Example',
        city: 'Berlin',
        postalCode: '10119',
        country: 'DE',
      },
    },
    returns: [200, CustomerRecord],
    fails: {
      name_verified: [
        400,
        'name is the verified name of the holder, which payers and cards show. Ask the operator of this installation to change it.',
      ],
    },
    emits: customerChangeEvents,
  }),
  get: operator.getOne('/customers/{id}', 'a customer', CustomerRecord, fails),
  update: operator.patch('/customers/{id}', {
    summary: 'Change, suspend or reactivate a customer',
    description: `Suspending stops all of the customer’s keys and tokens at once, and cancels SEPA transfers that are not submitted yet. ${twoEvents}`,
    body: CustomerUpdateBody,
    example: { plan: 'business' },
    returns: [200, CustomerRecord],
    fails: {
      ...fails,
      account_forgotten: [
        400,
        'status cannot change, because the owner’s data was erased. The account stays suspended.',
      ],
    },
    emits: customerChangeEvents,
  }),
}
