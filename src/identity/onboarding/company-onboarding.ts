import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { centsColumn, nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import type { PostalAddress } from '../../ports/card-processor.ts'
import type { IdentityDecider } from '../../ports/identity-verification.ts'
import { days } from '../../values/clock.ts'

export const onboardingMachine = stateMachine('onboarding', {
  submitted: ['in_review', 'needs_information', 'rejected', 'withdrawn'],
  in_review: ['approved', 'rejected', 'needs_information', 'withdrawn'],
  needs_information: ['in_review', 'rejected', 'withdrawn', 'expired'],
  approved: [],
  rejected: [],
  withdrawn: [],
  expired: [],
})
export type OnboardingStatus = (typeof onboardingMachine.states)[number]

/** Rejections are the operator's alone; the installation approves its only customer. */
export const onboardingDeciders = ['operator', 'installation'] as const satisfies readonly IdentityDecider[]
export type OnboardingDecider = (typeof onboardingDeciders)[number]

export const OPEN_ONBOARDING_SQL = "status in ('submitted', 'in_review', 'needs_information')"

export const OPEN_ONBOARDING_STATUSES = [
  'submitted',
  'in_review',
  'needs_information',
] as const satisfies readonly OnboardingStatus[]

export const ONBOARDING_ANSWER_TTL_MS = days(30)

/** Bounds the questions of a round, and the rounds. After the last round, the operator decides. */
export const MAX_ONBOARDING_QUESTIONS = 10
export const MAX_QUESTION_ROUNDS = 20

export const MAX_REPRESENTATIVES = 20
export const MAX_BENEFICIAL_OWNERS = 50

/** The operator's questions of one round, and the answer. Instants are ISO 8601. */
interface InformationRequest {
  readonly questions: string[]
  readonly requestedAt: string
  readonly expiresAt: string
  readonly answeredAt: string | null
  readonly answer: string | null
}

const schema = defineEntity({
  ...tenantTable('Onboarding', 'onboardings'),
  properties: {
    ...recordColumns('onboarding'),
    status: p.enum(onboardingMachine.states).onCreate(() => onboardingMachine.initial),
    legalName: personal(p.text(), 'name', 'moneyLaundering', 'word'),
    legalForm: plain(p.text()),
    registerNumber: personal(p.text(), 'identity', 'moneyLaundering', 'word'),
    address: personal(p.json<PostalAddress>(), 'address', 'moneyLaundering', 'empty'),
    website: personal(nullable.string(), 'contact', 'moneyLaundering', 'null'),
    intendedUse: personal(p.text(), 'words', 'moneyLaundering', 'word'),
    expectedMonthlyVolumeCents: centsColumn('expected_monthly_volume_cents'),
    informationRequests: personal(
      p.json<InformationRequest[]>().onCreate(() => []),
      'words',
      'moneyLaundering',
      'empty',
    ),
    reason: personal(nullable.string(), 'words', 'moneyLaundering', 'word'),
    decidedBy: plain(nullable.string().$type<OnboardingDecider | null>()),
    endedAt: nullable.instant(),
    /** When the run or the sweep has to act; null while it waits for the operator or the company. */
    dueAt: nullable.instant(),
    workflowId: p.text(),
  },
})

export class Onboarding extends schema.class {}
schema.setClass(Onboarding)

export const isOnboardingOpen = ({ status }: Pick<Onboarding, 'status'>): boolean =>
  !onboardingMachine.isFinal(status)

export const openInformationRequest = ({
  status,
  informationRequests,
}: Pick<Onboarding, 'status' | 'informationRequests'>): InformationRequest | undefined =>
  status === 'needs_information' ? informationRequests.at(-1) : undefined

export const onboardingEndedMessage = ({ status }: Pick<Onboarding, 'status'>): string =>
  `The onboarding is already ${status}.`
