import type Stripe from 'stripe'
import { z } from 'zod'
import type { ProcessorFailure } from '../../../ports/card-processor.ts'
import type {
  FundingInstrument,
  InstrumentCall,
  InstrumentPage,
  InstrumentSetup,
  MissingInstrument,
} from '../../../ports/funding-rail.ts'
import type { SepaRailCall } from '../../../ports/sepa-rail.ts'
import { UNUSABLE_ANSWER } from '../issuing/connection.ts'

/** What a charge needs. Kept as one token, which only this adapter reads. */
interface StripeMethod {
  readonly kind: FundingInstrument['kind']
  readonly customer: string
  readonly method: string
  readonly mandate: string | null
}

const tokenOf = ({ kind, customer, method, mandate }: StripeMethod): string =>
  [kind, customer, method, ...(mandate === null ? [] : [mandate])].join('/')

/** Undefined for the token of another processor, by which payment methods were added before. */
function readMethod(token: string): StripeMethod | undefined {
  const [kind, customer, method, mandate = null] = token.split('/')
  const isStripes = (kind === 'card' || kind === 'sepa_debit') && customer && method
  return isStripes ? { kind, customer, method, mandate } : undefined
}

export const isStripesMethod = (token: string): boolean => readMethod(token) !== undefined

export function methodOf(token: string): StripeMethod {
  const method = readMethod(token)
  if (!method) throw new Error('a payment method that is not Stripe’s')
  return method
}

const Page = z.object({ id: z.string().min(1), url: z.url(), expires_at: z.number() })

/** Each page makes a customer of its own, by which its charges are listed. */
export async function createSetupPage(
  stripe: Stripe,
  { ownerId, returnUrl }: InstrumentSetup,
  { reference }: SepaRailCall,
): Promise<InstrumentPage | ProcessorFailure> {
  const made = await stripe.checkout.sessions.create(
    {
      mode: 'setup',
      currency: 'eur',
      allowed_payment_method_types: ['card', 'sepa_debit'],
      customer_creation: 'always',
      client_reference_id: ownerId,
      success_url: `${returnUrl}?token={CHECKOUT_SESSION_ID}`,
      cancel_url: returnUrl,
    },
    { idempotencyKey: `setup/${reference}` },
  )
  const page = Page.safeParse(made).data
  if (!page) return UNUSABLE_ANSWER
  return { url: page.url, token: page.id, expiresAt: new Date(page.expires_at * 1_000) }
}

const reference = z
  .union([z.string().min(1), z.object({ id: z.string().min(1) })])
  .transform(value => (typeof value === 'string' ? value : value.id))

const Method = z.discriminatedUnion('type', [
  z.object({
    id: z.string().min(1),
    type: z.literal('card'),
    card: z.object({ brand: z.string(), last4: z.string() }),
  }),
  z.object({
    id: z.string().min(1),
    type: z.literal('sepa_debit'),
    sepa_debit: z.object({ last4: z.string() }),
  }),
])

const Session = z.object({
  mode: z.string(),
  status: z.string().nullable(),
  client_reference_id: z.string().nullable(),
  customer: reference.nullable(),
})

const Complete = z.object({
  setup_intent: z.object({
    status: z.literal('succeeded'),
    mandate: reference.nullish(),
    payment_method: Method,
  }),
  customer: reference,
})

interface Missing {
  readonly missing: MissingInstrument
}

/** The session of another owner is as unknown as one that does not exist. */
export async function findInstrument(
  stripe: Stripe,
  token: string,
  { ownerId }: InstrumentCall,
): Promise<FundingInstrument | Missing | ProcessorFailure> {
  if (!/^cs_\w+$/.test(token)) return { missing: 'unknown' }
  const found = await stripe.checkout.sessions.retrieve(token, { expand: ['setup_intent.payment_method'] })
  const session = Session.safeParse(found).data
  if (!session) return UNUSABLE_ANSWER
  if (session.mode !== 'setup' || session.client_reference_id !== ownerId) return { missing: 'unknown' }
  if (session.status !== 'complete') return { missing: session.status === 'open' ? 'incomplete' : 'unknown' }
  const complete = Complete.safeParse(found).data
  return complete ? instrumentFrom(complete) : UNUSABLE_ANSWER
}

function instrumentFrom({ setup_intent, customer }: z.output<typeof Complete>): FundingInstrument {
  const { payment_method: method, mandate = null } = setup_intent
  const kept = { kind: method.type, customer, method: method.id }
  if (method.type === 'card')
    return { kind: 'card', ...method.card, token: tokenOf({ ...kept, mandate: null }) }
  return { kind: 'sepa_debit', brand: null, ...method.sepa_debit, token: tokenOf({ ...kept, mandate }) }
}

export const detachMethod = (stripe: Stripe, token: string) =>
  stripe.paymentMethods.detach(methodOf(token).method)

export const eraseCustomer = (stripe: Stripe, token: string) => stripe.customers.del(methodOf(token).customer)
