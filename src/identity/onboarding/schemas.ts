import { z } from 'zod'
import { declareEvent } from '../../kernel/contract/events.ts'
import { notFound, type RefusalSpec } from '../../kernel/contract/operation.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { cents, moneySchema, positiveMoneySchema } from '../../values/money.ts'
import {
  countrySchema,
  freeTextSchema,
  labelSchema,
  PostalAddressRecord,
  patternTextSchema,
  postalAddressSchema,
  recordHead,
  recordTimestamps,
} from '../../values/schemas.ts'
import {
  MAX_BENEFICIAL_OWNERS,
  MAX_ONBOARDING_QUESTIONS,
  MAX_QUESTION_ROUNDS,
  MAX_REPRESENTATIVES,
  onboardingDeciders,
  onboardingMachine,
} from './company-onboarding.ts'
import { personMatchKey, representativeIdentityMachine } from './company-people.ts'

export const onboardingStatusSchema = z.enum(onboardingMachine.states).meta({
  description:
    '`submitted` until each representative can be checked, then `in_review`; `needs_information` while questions wait for an answer.',
})

const person = {
  name: labelSchema.meta({ examples: ['Ada Lovelace'] }),
  dateOfBirth: z.iso
    .date()
    .max(10)
    .refine(date => date >= '1900-01-01', '1900-01-01 or later')
    .meta({ examples: ['1985-12-10'] }),
  country: countrySchema.meta({ description: 'Where the person lives, ISO 3166 alpha-2.' }),
}

const areDifferent = (people: readonly { name: string; dateOfBirth: string }[]): boolean =>
  new Set(people.map(personMatchKey)).size === people.length

export const NewRepresentative = z.strictObject({
  ...person,
  position: labelSchema
    .nullable()
    .default(null)
    .meta({ examples: ['Managing director'] }),
})

const sharePercent = z
  .number()
  .min(0)
  .max(100)
  .refine(share => Number.isInteger(hundredths(share)), 'at most two decimals')
  .meta({ description: 'Zero for a person who controls the company without a share.', examples: [60] })

/** Shares are added as whole hundredths, because a sum of decimals would be slightly wrong. */
const hundredths = (share: number): number => Number((share * 100).toFixed(6))

export const NewBeneficialOwner = z.strictObject({ ...person, sharePercent })

const ONE_EACH = 'each person once'

export const companySchema = z.strictObject({
  legalName: labelSchema.meta({ examples: ['Analytical Engines GmbH'] }),
  legalForm: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .meta({ examples: ['GmbH'] }),
  registerNumber: patternTextSchema(
    /^(?=.*\d)[\p{L}\d][\p{L}\d ./-]*$/u,
    50,
    'a register number has letters, digits, spaces and . / - only, with at least one digit',
  ).meta({ examples: ['HRB 123456 B'] }),
  address: postalAddressSchema,
  website: z
    .url({
      protocol: /^https$/,
      hostname: z.regexes.domain,
      error: 'an https address, as in https://example.com',
    })
    .max(2_048)
    .refine(url => !/^https:\/\/[^/?#]*@/.test(url), 'an address without a name or a password')
    .nullable()
    .meta({ examples: ['https://example.com'] }),
  intendedUse: freeTextSchema.min(1).meta({
    description: 'What the agents will pay for, and whom.',
    examples: ['Agents buy research papers and computing time.'],
  }),
  expectedMonthlyVolumeCents: positiveMoneySchema(cents(100_000_000_00n)).meta({
    description: 'Maximum amount that the company expects to pay per month.',
    examples: [25_000],
  }),
  representatives: z
    .array(NewRepresentative)
    .min(1)
    .max(MAX_REPRESENTATIVES)
    .refine(areDifferent, ONE_EACH)
    .meta({
      description:
        'People who act for the company. The identity of each is verified: see `POST /kyc/submissions`.',
    }),
  beneficialOwners: z
    .array(NewBeneficialOwner)
    .max(MAX_BENEFICIAL_OWNERS)
    .refine(areDifferent, ONE_EACH)
    .refine(
      owners => owners.reduce((sum, { sharePercent }) => sum + hundredths(sharePercent), 0) <= 100_00,
      'shares of at most 100 percent in all',
    )
    .meta({
      description: 'People who own more than a quarter of the company, or control it. May be empty.',
    }),
})

export const onboardingQuestionsSchema = z
  .array(freeTextSchema.min(1))
  .min(1)
  .max(MAX_ONBOARDING_QUESTIONS)
  .meta({ examples: [['Please send the register extract of this year.']] })

export const onboardingAnswerSchema = z.string().trim().min(1).max(4_000)

const InformationRequestRecord = z.object({
  questions: z.array(z.string()),
  requestedAt: z.string(),
  expiresAt: z.string().meta({ description: 'Deadline for the answer, when the onboarding expires.' }),
  answeredAt: z.string().nullable(),
  answer: z.string().nullable(),
})

const RepresentativeRecord = z.object({
  id: id('representative'),
  name: z.string(),
  dateOfBirth: z.iso.date(),
  country: z.string(),
  position: z.string().nullable(),
  status: z.enum(representativeIdentityMachine.states).meta({ description: 'Status of the identity check.' }),
})

const BeneficialOwnerRecord = z.object({
  id: id('beneficialowner'),
  name: z.string(),
  dateOfBirth: z.iso.date(),
  country: z.string(),
  sharePercent: z.number(),
})

export const OnboardingRecord = z
  .object({
    ...recordHead('onboarding'),
    status: onboardingStatusSchema,
    missing: z.array(z.string()).meta({
      description: 'What is missing before the approval, in words.',
      examples: [['the identity of Ada Lovelace']],
    }),
    legalName: z.string(),
    legalForm: z.string(),
    registerNumber: z.string(),
    address: PostalAddressRecord,
    website: z.string().nullable(),
    intendedUse: z.string(),
    expectedMonthlyVolumeCents: moneySchema,
    representatives: z.array(RepresentativeRecord).meta({ id: 'Representatives' }),
    beneficialOwners: z.array(BeneficialOwnerRecord).meta({ id: 'BeneficialOwners' }),
    informationRequests: z.array(InformationRequestRecord).meta({
      description: `Questions of the operator, oldest first; at most ${MAX_QUESTION_ROUNDS} times.`,
    }),
    reason: z.string().nullable().meta({ description: 'Why the onboarding was rejected.' }),
    decidedBy: z
      .enum(onboardingDeciders)
      .nullable()
      .meta({ description: 'Who approved or rejected the onboarding.' }),
    endedAt: instant.nullable(),
    workflowId: z.string().meta({ description: 'The run’s ID in the Temporal Web UI.' }),
    ...recordTimestamps,
  })
  .meta({ id: 'Onboarding' })

/** Contains only ids, since details of a company and its people must not leave the service in events. */
export const OnboardingEvent = z.object({
  onboardingId: id('onboarding'),
  customerId: id('customer'),
  status: z.enum(onboardingMachine.states),
  representativeIds: z.array(id('representative')).max(MAX_REPRESENTATIVES),
})

export const onboardingEvents = {
  'onboarding.submitted': declareEvent('A company has submitted its onboarding.', OnboardingEvent),
  'onboarding.in_review': declareEvent(
    'An onboarding is ready for its review: the operator decides next.',
    OnboardingEvent,
  ),
  'onboarding.information_requested': declareEvent(
    'The operator has asked a company for information, which is due by `expiresAt`.',
    OnboardingEvent.extend({ expiresAt: instant }),
  ),
  'onboarding.updated': declareEvent(
    'A company has answered the operator’s questions.',
    OnboardingEvent.extend({
      changed: z.array(z.string().max(40)).max(20).meta({
        description: 'The changed fields, and `answer` if the company wrote one.',
      }),
    }),
  ),
  'onboarding.approved': declareEvent(
    'An onboarding has been approved: the company is verified.',
    OnboardingEvent.extend({ decidedBy: z.enum(onboardingDeciders) }),
  ),
  'onboarding.rejected': declareEvent(
    'An onboarding has been rejected. Its record says why.',
    OnboardingEvent,
  ),
  'onboarding.withdrawn': declareEvent('A company has withdrawn its onboarding.', OnboardingEvent),
  'onboarding.expired': declareEvent(
    'The operator’s questions were not answered within thirty days, so the onboarding has expired.',
    OnboardingEvent,
  ),
}

export const onboardingRefusals = {
  onboarding_not_found: notFound('onboarding'),
  onboarding_ended: [400, 'The onboarding has already ended. Submit a new one with POST /onboarding.'],
  birth_unlikely: [
    400,
    'dateOfBirth: give the day on which the person was born. A representative is at least 18 years old.',
  ],
} as const satisfies Record<string, RefusalSpec>
