import { z } from 'zod'
import { event } from '../../kernel/contract/events.ts'
import { withoutCardNumbers } from '../../values/card-number.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { cents, money, positiveMoney } from '../../values/money.ts'
import { country, formattedText } from '../../values/schemas.ts'

const HIGHEST = cents(99_999_999_999n)

const mcc = formattedText(/^\d{4}$/, 4, 'a merchant category code has four digits').meta({
  examples: ['5942'],
})

/** An id of the network: callers choose it freely, for messages that precede the ones they refer to. */
const networkId = (what: string) =>
  formattedText(/^[\w.:-]{1,100}$/, 100, 'up to 100 letters, digits, and _ . : -').meta({
    description: `The network’s id of the ${what}.`,
  })

const amount = positiveMoney(HIGHEST)
const amountOrNothing = money.refine(given => given <= HIGHEST, 'less than a billion euros')

/** Members of every message. Sent again with the values of its answer, a message is a repetition. */
const message = {
  messageId: networkId('message')
    .optional()
    .meta({ description: 'The same id is the same message. Made up if left out.' }),
  sentAt: instant.optional().meta({ description: 'Now if left out.' }),
}

const last4 = formattedText(/^\d{4}$/, 4, 'four digits')
  .optional()
  .meta({
    description:
      'Which of the card’s numbers the merchant has, by its last four digits; the current one if left out.',
  })

const cardId = id('card')
const agentCredentialId = id('agentcredential').optional().meta({
  description: 'The network token that pays in place of the number of the card.',
})
const networkTokenId = networkId('token that pays').meta({
  description: 'The token by the processor’s id. `agentCredentialId` names it by ours: give one of both.',
})
const authorizationId = networkId('authorization')

const merchant = {
  merchant: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .meta({
      description: 'The descriptor: the line of the merchant on statements.',
      examples: ['SQ *BOOKSHOP 1234 BERLIN'],
    }),
  mcc: mcc.nullable().default(null),
  country: country.nullable().default(null),
  url: z
    .url({ protocol: /^https?$/ })
    .max(2_000)
    .nullable()
    .default(null),
  agentCredentialId,
  networkTokenId: networkTokenId.nullable().default(null),
}

/** Later messages repeat members of the first one, for cases in which that is missing or late. */
const later = {
  ...message,
  last4,
  cardId: cardId.optional().meta({ description: 'Needed where no such authorization is known.' }),
}

const laterMerchant = {
  merchant: merchant.merchant
    .optional()
    .meta({ description: 'That of the authorization if left out; needed where none is known.' }),
  mcc: mcc.nullish(),
  country: country.nullish(),
  url: merchant.url.unwrap().optional(),
  agentCredentialId: agentCredentialId.meta({
    description: 'The network token that pays; that of the authorization if left out.',
  }),
  networkTokenId: networkTokenId.nullish(),
}

export const AuthorizeBody = withoutCardNumbers(
  z.strictObject({
    ...message,
    ...merchant,
    last4,
    cardId,
    authorizationId: authorizationId.optional(),
    amountCents: amountOrNothing.meta({ description: 'Zero only checks the card.' }),
    partialAllowed: z
      .boolean()
      .default(false)
      .meta({ description: 'Whether less than the amount may be approved.' }),
  }),
)

export const IncrementBody = withoutCardNumbers(
  z.strictObject({
    ...later,
    ...laterMerchant,
    authorizationId,
    amountCents: amount.meta({ description: 'What is asked for in addition.' }),
    partialAllowed: z.boolean().default(false),
    ask: z
      .int()
      .min(1)
      .max(100)
      .optional()
      .meta({ description: '1 is the first increment. The next one if left out.' }),
  }),
)

export const ReverseBody = withoutCardNumbers(
  z.strictObject({
    ...later,
    authorizationId,
    amountCents: amount.meta({ description: 'What is given back.' }),
  }),
)

export const WholeBody = withoutCardNumbers(z.strictObject({ ...later, authorizationId }))

export const ClearBody = withoutCardNumbers(
  z.strictObject({
    ...later,
    ...laterMerchant,
    authorizationId: authorizationId.optional().meta({ description: 'Left out: cleared without one.' }),
    clearingId: networkId('clearing').optional(),
    amountCents: amount
      .optional()
      .meta({ description: 'What is approved and not cleared yet, if left out; needed where nothing is.' }),
    final: z
      .boolean()
      .default(true)
      .meta({ description: 'Whether this is the last clearing of its authorization.' }),
  }),
)

export const RefundBody = withoutCardNumbers(
  z.strictObject({
    ...later,
    ...laterMerchant,
    authorizationId: authorizationId.optional().meta({ description: 'Left out: linked to no payment.' }),
    refundId: networkId('refund').optional(),
    amountCents: amount,
  }),
)

export const ShipBody = withoutCardNumbers(
  z.strictObject({
    ...message,
    cardId,
    carrier: z.string().trim().min(1).max(200).nullable().default(null),
    trackingNumber: z.string().trim().min(1).max(200).nullable().default(null),
  }),
)

export const MobileWalletBody = withoutCardNumbers(
  z.strictObject({
    ...message,
    cardId,
    last4,
    tokenId: networkId('card in the phone').optional(),
    wallet: z.enum(['apple_pay', 'google_pay', 'samsung_pay', 'other']),
    status: z.enum(['requested', 'active', 'suspended', 'deleted']),
  }),
)

export const DisputeBody = withoutCardNumbers(
  z.strictObject({
    ...message,
    disputeId: id('dispute'),
    says: z.enum(['credited', 'won', 'lost']).meta({
      description:
        '`credited`: the network pays for the time being. `won`, `lost`: it has decided; by the time of sending its last word counts.',
    }),
    amountCents: amount
      .optional()
      .meta({ description: 'What it pays; all that is disputed, if left out. Nothing with `lost`.' }),
  }),
)

const reply = z.enum(['approved', 'declined', 'noted', 'refused']).meta({
  description:
    '`approved`, `declined`: the answer to a request. `noted`: facts and news are never refused. `refused`: the message was not taken, `reason` says why.',
})

export const NetworkAnswer = z
  .object({
    cardId,
    messageId: z.string(),
    sentAt: instant,
    authorizationId: z.string().nullable(),
    ask: z.int().nullable(),
    clearingId: z.string().nullable(),
    refundId: z.string().nullable(),
    tokenId: z.string().nullable(),
    disputeId: id('dispute').nullable(),
    amountCents: money
      .nullable()
      .meta({ description: 'What the message was about; null = all of it, or nothing.' }),
    reply,
    approvedCents: money.nullable(),
    reason: z.string().nullable(),
  })
  .meta({ id: 'CardNetworkAnswer' })

export const networkEvents = {
  'card_network.message_sent': event(
    'The simulated card network has sent a message about a card.',
    z.object({
      cardId,
      messageId: z.string(),
      kind: z.string(),
      authorizationId: z.string().nullable(),
      amountCents: money.nullable(),
      reply,
    }),
  ),
}
