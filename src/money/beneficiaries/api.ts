import { z } from 'zod'
import { widening } from '../../identity/passkeys/index.ts'
import { operationsFor } from '../../kernel/contract/callers.ts'
import { declareEvent } from '../../kernel/contract/events.ts'
import { emptyBody, notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { payeeCheckResults } from '../../ports/sepa-rail.ts'
import { bicSchema } from '../../values/bic.ts'
import { ibanSchema, normalizeIban } from '../../values/iban.ts'
import { id } from '../../values/ids.ts'
import { countrySchema, emailSchema, recordHead, recordTimestamps } from '../../values/schemas.ts'
import { toSepaName } from './beneficiary.ts'

const result = z.enum(payeeCheckResults)

const Verification = z.object({
  result,
  suggestedName: z
    .string()
    .nullable()
    .meta({ description: 'Name of the account holder. Only with `close_match`.', examples: ['Adler GmbH'] }),
  at: z.iso.datetime().meta({ examples: ['2026-11-20T09:30:00.000Z'] }),
})

export const beneficiaryNameSchema = z
  .string()
  .trim()
  .min(1)
  .max(140)
  .refine(
    text => /[A-Za-z0-9]/.test(toSepaName(text)),
    'SEPA messages cannot contain any of its characters. Use Latin letters.',
  )
  .meta({ description: 'Name of the account holder, as the bank knows it.', examples: ['Bäckerei Müller'] })

const members = {
  name: beneficiaryNameSchema,
  iban: ibanSchema,
  bic: bicSchema.nullable(),
  country: countrySchema,
  email: emailSchema.nullable(),
}

export const BeneficiaryRecord = z
  .object({
    ...recordHead('beneficiary'),
    name: z.string(),
    sepaName: z
      .string()
      .max(70)
      .meta({
        description: 'The name as SEPA messages have it: in their characters, cut at 70.',
        examples: ['Baeckerei Mueller'],
      }),
    iban: z.string().meta({ examples: ['DE89370400440532013000'] }),
    bic: z
      .string()
      .nullable()
      .meta({ examples: ['COBADEFFXXX'] }),
    country: countrySchema.meta({ description: 'The payee’s country. Defaults to the country of the IBAN.' }),
    email: z
      .string()
      .nullable()
      .meta({ examples: ['ada@example.com'] }),
    verification: Verification.nullable().meta({
      description:
        'Result of the verification of payee. Null until it is requested, and after a change of name or IBAN.',
    }),
    duplicateOf: id('beneficiary')
      .nullable()
      .meta({ description: 'Another of your beneficiaries that already had this IBAN.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Beneficiary' })

/** Omits the IBAN, since events go to systems that need not know it. */
const BeneficiaryEvent = z.object({
  beneficiaryId: id('beneficiary'),
  name: z.string().max(200),
  country: z.string(),
  verification: result.nullable(),
  duplicateOf: id('beneficiary').nullable(),
})

const BeneficiaryUpdated = BeneficiaryEvent.extend({
  changed: z.array(z.string()).meta({ description: 'The changed fields, without fields derived from them.' }),
})

const fails = {
  beneficiary_not_found: notFound('beneficiary'),
  bic_does_not_fit: [400, 'bic: the bank is in a different country than the account.'],
} as const satisfies Record<string, RefusalSpec>
const { beneficiary_not_found, bic_does_not_fit } = fails

const readers = operationsFor({ callers: ['key'], scope: 'beneficiaries:read' })
const writers = operationsFor({ callers: ['key'], scope: 'beneficiaries:write' })

export const beneficiariesApi = {
  create: writers.post('/beneficiaries', {
    summary: 'Add a beneficiary',
    description:
      'Adds a SEPA payee. The IBAN is validated: country, length, structure, check digits. A duplicate IBAN is not refused: `duplicateOf` names the other beneficiary. The payee’s bank verifies the name: `POST /beneficiaries/{id}/verify`.',
    body: z.strictObject({
      name: beneficiaryNameSchema,
      iban: ibanSchema,
      bic: members.bic.default(null),
      country: countrySchema
        .optional()
        .meta({ description: 'The payee’s country. Defaults to the country of the IBAN.' }),
      email: members.email.default(null),
    }),
    example: { name: 'Bäckerei Müller', iban: 'DE89 3704 0044 0532 0130 00', bic: 'COBADEFFXXX' },
    returns: [201, BeneficiaryRecord],
    fails: { bic_does_not_fit },
    emits: { 'beneficiary.created': declareEvent('A beneficiary has been added.', BeneficiaryEvent) },
  }),
  list: readers.list('/beneficiaries', {
    summary: 'List beneficiaries',
    description: 'Newest first, without the deleted ones.',
    filters: {
      iban: z
        .string()
        .max(100)
        .transform(normalizeIban)
        .optional()
        .meta({
          description: 'Spaces and lowercase letters are allowed.',
          examples: ['DE89370400440532013000'],
        }),
      country: countrySchema.optional(),
      verification: z
        .enum([...payeeCheckResults, 'none'])
        .optional()
        .meta({
          description: 'Only beneficiaries with this latest verification result. `none`: no valid one.',
        }),
    },
    item: BeneficiaryRecord,
  }),
  get: readers.getOne('/beneficiaries/{id}', 'a beneficiary', BeneficiaryRecord, { beneficiary_not_found }),
  update: writers.patch('/beneficiaries/{id}', {
    summary: 'Change a beneficiary',
    description:
      'A new name or IBAN clears the verification. A new IBAN also changes the country, if that was the old IBAN’s country. Pending transfers are not affected.',
    body: z.strictObject({ ...members, ...widening.members }).partial(),
    example: { email: 'accounts@example.com' },
    returns: [200, BeneficiaryRecord],
    signature: widening.signature,
    fails: { ...widening.fails, ...fails },
    emits: {
      ...widening.emits,
      'beneficiary.updated': declareEvent('A beneficiary has changed.', BeneficiaryUpdated),
    },
  }),
  delete: writers.del('/beneficiaries/{id}', {
    summary: 'Delete a beneficiary',
    description: 'Past transfers keep the beneficiary. The oldest of its duplicates becomes the original.',
    returns: [204, emptyBody],
    fails: { beneficiary_not_found },
    emits: {
      'beneficiary.deleted': declareEvent('A beneficiary has been deleted.', BeneficiaryEvent),
      'beneficiary.updated': BeneficiaryUpdated,
    },
  }),
  verify: writers.post('/beneficiaries/{id}/verify', {
    summary: 'Verify the name with the payee’s bank',
    description: [
      'Verification of payee. The result is kept with the beneficiary until its name or IBAN changes.',
      'In test mode, the name determines the result. `Close …`: `close_match`, with the rest of the name as the suggestion. `No match …`: `no_match`. `Unknown …`: `not_possible`. `Timeout …`: the bank does not answer in time. `Garbled …`: the bank’s answer is not valid. Any other: `match`.',
    ].join('\n\n'),
    run: 'external',
    requires: 'sepaRail',
    returns: [
      200,
      Verification.extend({ beneficiaryId: id('beneficiary') }).meta({ id: 'PayeeVerification' }),
    ],
    fails: {
      beneficiary_not_found,
      beneficiary_changed: [
        409,
        'The name or IBAN changed during the verification. Nothing was recorded: verify again, with a new Idempotency-Key.',
      ],
      bank_answer_unusable: [
        502,
        'The bank’s answer is not valid. Nothing was recorded: verify again, with a new Idempotency-Key.',
      ],
      bank_silent: [
        504,
        'The bank did not answer in time. Nothing was recorded: verify again, with a new Idempotency-Key.',
      ],
    },
    emits: {
      'beneficiary.verified': declareEvent(
        'The payee’s bank has answered a verification of payee.',
        BeneficiaryEvent,
      ),
    },
  }),
}
