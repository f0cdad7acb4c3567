import { createHash } from 'node:crypto'
import type Stripe from 'stripe'
import type {
  CardHolder,
  NewCard,
  PostalAddress,
  ProcessorCall,
  ProcessorFailure,
} from '../../../ports/card-processor.ts'

export const valueDigest = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member)))
    .digest('hex')
    .slice(0, 16)

type Holder = Stripe.Issuing.Cardholder
type HolderParams = Stripe.Issuing.CardholderCreateParams

interface CompleteHolder extends CardHolder {
  readonly address: PostalAddress
  readonly phone: string
}

/**
 * Finds or creates the holder of an owner's cards. Stripe forgets idempotency keys after a day, so the holder
 * is looked up by email and recognized by the owner's id; the key only joins concurrent creations.
 */
export async function findOrCreateCardholder(
  stripe: Stripe,
  { ownerId, holder }: NewCard,
  { reference }: ProcessorCall,
): Promise<string | ProcessorFailure> {
  if (!isComplete(holder)) return incomplete(holder)
  const { data } = await stripe.issuing.cardholders.list({ email: holder.email, limit: 100 })
  const known = data.find(({ metadata }) => metadata.owner_id === ownerId)
  if (!known) return create(stripe, paramsOf(ownerId, holder))
  const contact = contactOf(holder)
  if (!isUpToDate(known, holder))
    await stripe.issuing.cardholders.update(known.id, contact, {
      idempotencyKey: `${reference}/holder/${valueDigest(contact)}`,
    })
  return known.id
}

const isComplete = (holder: CardHolder): holder is CompleteHolder =>
  holder.address !== null && holder.phone !== null && nameOnCard(holder.name) !== ''

function incomplete({ name, address, phone }: CardHolder): ProcessorFailure {
  const missing = [
    ...(nameOnCard(name) === '' ? ['a name with letters (`name`)'] : []),
    ...(address === null ? ['an address (`address`)'] : []),
    ...(phone === null ? ['a phone number (`phone`)'] : []),
  ]
  return {
    failure: 'refused',
    code: 'holder_incomplete',
    message: `The issuer needs more data about the card’s holder: ${missing.join(', ')}. Add it with PATCH /customers/me, then request the card again.`,
  }
}

async function create(stripe: Stripe, params: HolderParams): Promise<string> {
  const owner = params.metadata?.owner_id
  const { id } = await stripe.issuing.cardholders.create(params, {
    idempotencyKey: `cardholder/${owner}/${valueDigest(params)}`,
  })
  return id
}

const paramsOf = (ownerId: string, holder: CompleteHolder): HolderParams => ({
  ...contactOf(holder),
  name: nameOnCard(holder.name),
  ...(holder.type === 'business'
    ? { type: 'company' }
    : { type: 'individual', individual: namesOf(holder.name) }),
  metadata: { owner_id: ownerId },
})

const contactOf = ({ email, phone, address }: CompleteHolder) => ({
  email,
  phone_number: phone,
  billing: { address: billingOf(address) },
})

const billingOf = ({ line1, line2, city, postalCode, country }: PostalAddress) => ({
  line1,
  ...(line2 === null ? {} : { line2 }),
  city,
  postal_code: postalCode,
  country,
})

function isUpToDate({ email, phone_number, billing }: Holder, holder: CompleteHolder): boolean {
  const { line1, line2, city, postal_code, country } = billing.address
  const { address } = holder
  return (
    email === holder.email &&
    phone_number === holder.phone &&
    line1 === address.line1 &&
    (line2 || null) === address.line2 &&
    city === address.city &&
    postal_code === address.postalCode &&
    country === address.country
  )
}

/** Stripe prints up to 24 letters, and accepts neither digits nor signs. */
const nameOnCard = (name: string): string => lettersOf(name).slice(0, 24).trim()

const lettersOf = (name: string): string =>
  name
    .normalize('NFC')
    .replace(/[^\p{L}\p{M} .,'-]+/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()

/** The last word is the family name; a name of one word is both. */
function namesOf(name: string): { first_name: string; last_name: string } {
  const words = lettersOf(name).split(' ')
  const last = words.at(-1) ?? ''
  return { first_name: words.slice(0, -1).join(' ') || last, last_name: last }
}
