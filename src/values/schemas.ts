import { z } from 'zod'
import { instant } from './clock.ts'
import { countries } from './countries.ts'
import { id } from './ids.ts'
import { containsCardNumber } from './mask-card-numbers.ts'
import { placeOfRoundedNumber } from './whole-numbers.ts'

export const recordHead = (prefix: string) => ({
  id: id(prefix),
  ownerId: id('customer'),
  mode: z.enum(['test', 'live']),
})
export const recordTimestamps = { createdAt: instant, updatedAt: instant }

export const labelSchema = z.string().trim().min(1).max(200)

export const emailSchema = z
  .email()
  .max(254)
  .meta({ examples: ['ada@example.com'] })

/** `words` is the one error message for every way it can be wrong. */
export function patternTextSchema(form: RegExp, longest: number, words: string) {
  return z.string().max(longest, { error: words, abort: true }).regex(form, words)
}

const twoLetters = 'a country is two capital letters (ISO 3166-1)'

/** ISO 3166-1 alpha-2. */
export const countrySchema = z
  .string()
  .max(2, { error: twoLetters, abort: true })
  .refine(code => countries.has(code), twoLetters)
  .meta({ pattern: '^[A-Z]{2}$', examples: ['DE'] })

/** E.164. */
export const phoneSchema = patternTextSchema(
  /^\+[1-9]\d{6,14}$/,
  16,
  'a phone number begins with + and the code of its country, and has no spaces',
).meta({ examples: ['+493012345678'] })

const addressLine = z.string().trim().min(1).max(100)

export const postalAddressSchema = z.strictObject({
  line1: addressLine.meta({ description: 'Street and number.', examples: ['Torstraße 1'] }),
  line2: addressLine
    .nullable()
    .default(null)
    .meta({ description: 'Floor, flat or company.', examples: ['c/o Example'] }),
  city: addressLine.meta({ examples: ['Berlin'] }),
  postalCode: z
    .string()
    .trim()
    .min(1)
    .max(20)
    .meta({ examples: ['10119'] }),
  country: countrySchema,
})

export const PostalAddressRecord = z.object({
  line1: z.string(),
  line2: z.string().nullable(),
  city: z.string(),
  postalCode: z.string(),
  country: z.string(),
})

export const agentIdSchema = id('agent')
  .optional()
  .meta({
    description: 'The agent. Optional with an agent’s own token.',
    examples: ['agent_01jd8x2m4ye7k9v0c3q5r6t8wz'],
  })

export const searchTextSchema = z.string().min(1).max(200).optional()

const NO_CARD_NUMBER = 'This looks like the number of a card. Never send one: leave it out.'

/** Without card numbers, because it is stored and shown. */
export const freeTextSchema = z
  .string()
  .trim()
  .max(1_000)
  .refine(text => !containsCardNumber(text), NO_CARD_NUMBER)

export const metadataSchema = z.record(z.string().min(1).max(100), z.string().max(1_000)).meta({
  maxProperties: 50,
  description: 'Up to 50 key-value pairs of your own.',
  examples: [{ team: 'research' }],
})

/** For new metadata: older records may contain what this refuses. */
export const inputMetadataSchema = metadataSchema.refine(
  members => !containsCardNumber(members),
  NO_CARD_NUMBER,
)

/** JSON of any form, which is given on as it was sent. Numbers that other programs write may be too long for ours. */
export const anyJsonObjectSchema = (longestName: number) =>
  z.record(z.string().max(longestName), z.unknown()).superRefine((given, context) => {
    const path = placeOfRoundedNumber(given)
    if (path === undefined) return
    const message = 'is a number that would lose digits: send it as a string.'
    context.addIssue({ code: 'custom', path: [...path], message })
  })

/** For an event, never cut inside a surrogate pair. */
export const truncateText = (text: string): string =>
  text.length > 200 ? `${text.slice(0, 199).replace(/[\uD800-\uDBFF]$/, '')}…` : text

export const timeRangeMembers = {
  from: instant.optional().meta({ description: 'Only records at or after this time.' }),
  to: instant.optional().meta({ description: 'Only records before this time.' }),
}
