import { z } from 'zod'
import type { CardMerchant } from '../../../ports/card-processor.ts'
import { cents } from '../../../values/money.ts'
import { type OriginalAmount, originalAmount, unitsFromStripe } from '../../../values/original-amount.ts'

/**
 * The members of Stripe's objects that are read. A missing member, or one of another type, makes the message
 * unreadable.
 */

const id = z.string().min(1).max(200).refine(isStorable, 'a character that cannot be stored')

/** PostgreSQL stores neither U+0000 nor lone surrogates. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** Free text is made storable, as a message about money must not be lost over it. */
const freeText = (longest: number) =>
  z.string().transform(text => text.replaceAll('\0', '').slice(0, longest).toWellFormed().trim())

const reference = z.union([id, z.object({ id })]).transform(idOf)

function idOf(value: string | { id: string }): string {
  return typeof value === 'string' ? value : value.id
}

/** Amounts are in the card's currency, regardless of the merchant’s: all cards are in euros. */
const eur = z.literal('eur', 'every card is in euros')

const amount = z.int().transform(cents)
const requestedAmount = z.int().min(0).transform(cents)

const merchantData = z
  .object({
    name: freeText(200).nullish(),
    network_id: freeText(200),
    category_code: z.string().nullish(),
    city: freeText(200).nullish(),
    country: z.string().nullish(),
    url: freeText(2_000).nullish(),
  })
  .transform(({ name, network_id, category_code, city, country, url }) => ({
    descriptor: name || network_id,
    mcc: matching(/^\d{4}$/, category_code),
    city: city || null,
    country: matching(/^[A-Z]{2}$/, country),
    url: url || null,
  }))

const matching = (form: RegExp, text: string | null | undefined): string | null =>
  text && form.test(text) ? text : null

const paid = { merchant_data: merchantData }

/** The merchant's amount, with the sign of `amount`. */
const ofMerchant = {
  merchant_amount: z.int().nullish(),
  merchant_currency: z
    .string()
    .regex(/^[a-z]{3}$/i)
    .nullish(),
}

const moved = z.object({ id, amount, currency: eur, ...ofMerchant, ...paid })

export type StripeMovement = z.output<typeof moved>

export const StripeAuthorization = z.object({
  id,
  card: reference,
  status: z.string(),
  amount,
  currency: eur,
  metadata: z.record(z.string(), z.string()).default({}),
  pending_request: z
    .object({
      amount: requestedAmount,
      currency: eur,
      is_amount_controllable: z.boolean(),
      ...ofMerchant,
    })
    .nullish(),
  request_history: z
    .array(z.object({ amount: requestedAmount, approved: z.boolean(), created: z.number(), ...ofMerchant }))
    .max(1_000),
  transactions: z.array(moved).default([]),
  ...paid,
})

export type StripeAuthorization = z.output<typeof StripeAuthorization>

export const StripeTransaction = moved.extend({ card: reference, authorization: reference.nullish() })

export const StripeCard = z.object({
  id,
  status: z.string(),
  cancellation_reason: freeText(200).nullish(),
  shipping: z
    .object({
      status: z.string().nullish(),
      carrier: freeText(200).nullish(),
      tracking_number: freeText(200).nullish(),
    })
    .nullish(),
})

export const StripeToken = z.object({
  id,
  card: reference,
  status: z.enum(['requested', 'active', 'suspended', 'deleted']),
  wallet_provider: z.string().nullish(),
})

/** The metadata has had the card and our id since the dispute was opened; a dispute opened elsewhere has none. */
export const StripeDispute = z.object({
  id,
  status: z.string(),
  amount,
  currency: eur,
  metadata: z.record(z.string(), z.string()).default({}),
})

export const StripeEvent = z.object({
  id,
  type: z.string(),
  created: z.number(),
  data: z.object({
    object: z.unknown(),
    previous_attributes: z
      .record(z.string(), z.unknown())
      .nullish()
      .transform(before => before ?? {}),
  }),
})

export type StripeEvent = z.output<typeof StripeEvent>

/**
 * Stripe makes all tokens of its cards itself, for wallets and for cards that merchants keep: its `token` is none
 * that this service gave a merchant, and names no shared payment token.
 */
export const cardMerchantFromStripe = ({
  merchant_data,
}: Pick<StripeMovement, 'merchant_data'>): CardMerchant => ({
  ...merchant_data,
  networkTokenId: null,
})

type MerchantAmount = Pick<StripeMovement, 'merchant_amount' | 'merchant_currency'>

/** Undefined for euros. */
export function originalFromStripe({
  merchant_amount,
  merchant_currency,
}: MerchantAmount): OriginalAmount | undefined {
  const currency = merchant_currency?.toUpperCase()
  if (!merchant_amount || currency === undefined || currency === 'EUR') return undefined
  const { units } = unitsFromStripe(BigInt(Math.abs(merchant_amount)), currency)
  return originalAmount(units, currency)
}
