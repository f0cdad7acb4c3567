import { z } from 'zod'
import { operationsFor, operator } from '../../kernel/contract/callers.ts'
import { step } from '../../kernel/contract/step.ts'
import { instant } from '../../values/clock.ts'
import { id } from '../../values/ids.ts'
import { freeTextSchema } from '../../values/schemas.ts'
import { MAX_QUESTION_ROUNDS } from './company-onboarding.ts'
import {
  companySchema,
  OnboardingRecord,
  onboardingAnswerSchema,
  onboardingEvents,
  onboardingQuestionsSchema,
  onboardingRefusals,
  onboardingStatusSchema,
} from './schemas.ts'

const readers = operationsFor({ callers: ['key', 'dash'], scope: 'onboarding:read' })
const writers = operationsFor({ callers: ['key'], scope: 'onboarding:write' })

const { onboarding_not_found, onboarding_ended, birth_unlikely } = onboardingRefusals
const ends = { onboarding_not_found, onboarding_ended }

export const onboardingApi = {
  create: writers.post('/onboarding', {
    summary: 'Submit your company for onboarding',
    description:
      'For customers of the type `business`, once, before live keys can be created. `missing` says what to do next: the identity of each representative is verified with `POST /kyc/submissions` and the ID of the representative.\n\nOnce each of them can be checked, the onboarding is `in_review`, and the operator decides. Only one onboarding can be open at a time.',
    body: companySchema.extend({
      website: companySchema.shape.website.default(null),
      beneficialOwners: companySchema.shape.beneficialOwners.default([]),
    }),
    example: {
      legalName: 'Analytical Engines GmbH',
      legalForm: 'GmbH',
      registerNumber: 'HRB 123456 B',
      address: {
        line1: 'Torstraße 1',
        line2: 'c/o Example',
        city: 'Berlin',
        postalCode: '10119',
        country: 'DE',
      },
      website: 'https://example.com',
      intendedUse: 'Agents buy research papers and computing time.',
      expectedMonthlyVolumeEuros: 25_000,
      representatives: [
        { name: 'Ada Lovelace', dateOfBirth: '1985-12-10', country: 'DE', position: 'Managing director' },
      ],
      beneficialOwners: [
        { name: 'Ada Lovelace', dateOfBirth: '1985-12-10', country: 'DE', sharePercent: 60 },
      ],
    },
    returns: [201, OnboardingRecord],
    fails: {
      birth_unlikely,
      business_only: [
        400,
        'Onboarding is for companies, and this account belongs to an individual. Use POST /kyc/submissions.',
      ],
      onboarding_under_way: [400, 'An onboarding is already open. See GET /onboarding.'],
    },
    emits: { 'onboarding.submitted': onboardingEvents['onboarding.submitted'] },
  }),
  list: readers.list('/onboarding', {
    summary: 'List onboardings',
    description:
      'Newest first: your own or, with the dashboard secret, those of all owners. Filter with `ownerId` and `mode`.',
    filters: {
      status: onboardingStatusSchema.optional(),
      ownerId: id('customer').optional(),
      mode: z.enum(['test', 'live']).optional(),
    },
    item: OnboardingRecord,
  }),
  get: readers.getOne('/onboarding/{id}', 'an onboarding', OnboardingRecord, { onboarding_not_found }),
  update: writers.patch('/onboarding/{id}', {
    summary: 'Answer questions about your company',
    description:
      'Possible while the status is `needs_information`, once per round of questions: send the whole answer in one request. The onboarding is then `in_review` again. Send `representatives` and `beneficialOwners` as complete lists. A representative with the same name and date of birth stays the same person, verified or not; others are new.',
    body: companySchema
      .extend({
        answer: onboardingAnswerSchema.meta({ description: 'Your answer to the questions.' }),
      })
      .partial()
      .refine(body => Object.values(body).some(value => value !== undefined), {
        path: ['answer'],
        error: 'send an answer, or change a field',
      }),
    example: { answer: 'The register extract of this year says the same.', registerNumber: 'HRB 123457 B' },
    returns: [200, OnboardingRecord],
    fails: {
      ...ends,
      birth_unlikely,
      nothing_asked: [
        400,
        'There are no open questions. An onboarding can be changed while its status is needs_information.',
      ],
    },
    emits: {
      'onboarding.updated': onboardingEvents['onboarding.updated'],
      'onboarding.in_review': onboardingEvents['onboarding.in_review'],
    },
  }),
  withdraw: writers.post('/onboarding/{id}/withdraw', {
    summary: 'Withdraw your onboarding',
    description: 'Possible until the onboarding is decided. You can then submit a new one.',
    returns: [200, OnboardingRecord],
    fails: ends,
    emits: { 'onboarding.withdrawn': onboardingEvents['onboarding.withdrawn'] },
  }),
  requestInformation: operator.post('/onboarding/{id}/request-information', {
    summary: 'Ask a company for information',
    description:
      'The company answers with `PATCH /onboarding/{id}`, within thirty days: after that, the onboarding expires.',
    body: z.strictObject({ questions: onboardingQuestionsSchema }),
    example: { questions: ['Please tell us the register number of this year’s extract.'] },
    returns: [200, OnboardingRecord],
    fails: {
      ...ends,
      answer_awaited: [400, 'There are already open questions. Ask again once they are answered.'],
      too_many_questions: [
        400,
        `The company was already asked ${MAX_QUESTION_ROUNDS} times. Approve or reject it.`,
      ],
    },
    emits: { 'onboarding.information_requested': onboardingEvents['onboarding.information_requested'] },
  }),
  approve: operator.post('/onboarding/{id}/approve', {
    summary: 'Approve an onboarding',
    description: 'Each representative must be verified. From then on, the owner can create live keys.',
    body: z.strictObject({
      updatedAt: instant.optional().meta({
        description:
          '`updatedAt` of the record that you read: the approval is refused if the onboarding has changed since.',
      }),
    }),
    example: {},
    returns: [200, OnboardingRecord],
    fails: {
      ...ends,
      onboarding_changed: [409, 'updatedAt: the onboarding has changed meanwhile. Read it again.'],
      answer_awaited: [400, 'There are open questions. Decide once they are answered.'],
      identities_missing: [
        400,
        'Not every representative is verified. `missing` in GET /onboarding/{id} lists them.',
      ],
    },
    emits: {
      'onboarding.in_review': onboardingEvents['onboarding.in_review'],
      'onboarding.approved': onboardingEvents['onboarding.approved'],
    },
  }),
  reject: operator.post('/onboarding/{id}/reject', {
    summary: 'Reject an onboarding',
    description: 'The company reads the reason, and can submit a new onboarding.',
    body: z.strictObject({ reason: freeTextSchema.min(1) }),
    example: { reason: 'The register knows no company of this number.' },
    returns: [200, OnboardingRecord],
    fails: ends,
    emits: { 'onboarding.rejected': onboardingEvents['onboarding.rejected'] },
  }),
}

export const onboardingSteps = {
  /** Does nothing before the tenant's clock reaches the due time. */
  advance: step('onboarding.advance', {
    summary: 'Take an onboarding into review, approve it without an operator, or expire it',
    emits: {
      'onboarding.in_review': onboardingEvents['onboarding.in_review'],
      'onboarding.approved': onboardingEvents['onboarding.approved'],
      'onboarding.expired': onboardingEvents['onboarding.expired'],
    },
  }),
}
