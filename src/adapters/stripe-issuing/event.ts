import { z } from 'zod'
import type { CardMerchant } from '../../ports/card-processor.ts'

/** What is read of Stripe's objects. A member that is missing or of another type makes the message unreadable. */

/** A whole object where it is expanded, else its id. */
const reference = z.union([z.string().min(1), z.object({ id: z.string().min(1) })]).transform(idOf)

function idOf(value: string | { id: string }): string {
  return typeof value === 'string' ? value : value.id
}

/** Amounts come in the currency of the card, whatever the merchant's: all cards are in euros. */
const eur = z.literal('eur', 'every card is in euros')

const cents = z.int().transform(BigInt)
const amountAsked = z.int().min(0).transform(BigInt)

const merchantData = z
  .object({
    name: z.string().nullish(),
    network_id: z.string(),
    category_code: z.string().nullish(),
    country: z.string().nullish(),
    url: z.string().nullish(),
  })
  .transform(({ name, network_id, category_code, country, url }) => ({
    descriptor: name?.trim() || network_id,
    mcc: matching(/^\d{4}$/, category_code),
    country: matching(/^[A-Z]{2}$/, country),
    url: url?.trim() || null,
  }))

const matching = (form: RegExp, text: string | null | undefined): string | null =>
  text && form.test(text) ? text : null

const paid = { merchant_data: merchantData, token: reference.nullish() }

const moved = z.object({ id: z.string().min(1), amount: cents, currency: eur, ...paid })

export type Moved = z.output<typeof moved>

export const Authorization = z.object({
  id: z.string().min(1),
  card: reference,
  status: z.string(),
  amount: cents,
  currency: eur,
  metadata: z.record(z.string(), z.string()).default({}),
  pending_request: z
    .object({ amount: amountAsked, currency: eur, is_amount_controllable: z.boolean() })
    .nullish(),
  request_history: z.array(z.object({ amount: amountAsked, approved: z.boolean(), created: z.number() })),
  transactions: z.array(moved).default([]),
  ...paid,
})

export type Authorization = z.output<typeof Authorization>

export const Transaction = moved.extend({ card: reference, authorization: reference.nullish() })

export const Card = z.object({
  id: z.string().min(1),
  status: z.string(),
  cancellation_reason: z.string().nullish(),
  shipping: z
    .object({
      status: z.string().nullish(),
      carrier: z.string().nullish(),
      tracking_number: z.string().nullish(),
    })
    .nullish(),
})

export const Token = z.object({
  id: z.string().min(1),
  card: reference,
  status: z.enum(['requested', 'active', 'suspended', 'deleted']),
  wallet_provider: z.string().nullish(),
})

/** The envelope of every event. `previous_attributes` holds what another value has now, as it was before. */
export const Event = z.object({
  id: z.string().min(1),
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

export type Event = z.output<typeof Event>

export const merchantOf = ({
  merchant_data,
  token,
}: Pick<Moved, 'merchant_data' | 'token'>): CardMerchant => ({
  ...merchant_data,
  networkTokenId: token ?? null,
})
