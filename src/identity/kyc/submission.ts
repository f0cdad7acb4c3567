import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, plain } from '../../kernel/database/personal.ts'
import type { PostalAddress } from '../../ports/card-processor.ts'
import type { IdentityDecider, IdentityRejectionCode } from '../../ports/identity-verification.ts'
import { minutes } from '../../values/clock.ts'

export const kycSubmissionMachine = stateMachine('kyc_submission', {
  pending: ['in_review', 'verified', 'rejected'],
  in_review: ['verified', 'rejected'],
  verified: [],
  rejected: [],
})
export type KycSubmissionStatus = (typeof kycSubmissionMachine.states)[number]

/** The checks of this provider prove nothing, so the retention of their documents follows the test clock. */
export const SANDBOX_PROVIDER = 'sandbox'

export const OPEN_KYC_SUBMISSION_SQL = "status in ('pending', 'in_review')"

/** SQL condition. Evidence is kept for this long in real time, independent of the owner's test clock. */
export const KYC_REDACTION_SQL = 'redact_at is not null and redact_at <= now()'

export const OPEN_KYC_STATUSES = ['pending', 'in_review'] as const satisfies readonly KycSubmissionStatus[]

/** Bounds a tenant's submissions a day, since each costs the provider work. */
export const MAX_SUBMISSIONS_PER_DAY = 50

/** In minutes, between two calls of the provider: growing to hourly within the first day, then daily. */
const PAUSES = [1, 2, 5, 10, 20, 30, ...Array<number>(24).fill(60), 1_440]

export const kycRetryDelay = (calls: number): number =>
  minutes(PAUSES[Math.min(calls, PAUSES.length) - 1] ?? 1)

const schema = defineEntity({
  ...tenantTable('KycSubmission', 'kyc_submissions'),
  properties: {
    ...recordColumns('kycsubmission'),
    representativeId: plain(nullable.string()),
    status: p.enum(kycSubmissionMachine.states).onCreate(() => kycSubmissionMachine.initial),
    provider: plain(p.text()),
    name: personal(p.text(), 'name', 'moneyLaundering', 'word'),
    dateOfBirth: personal(p.date().$type<string>(), 'birth', 'moneyLaundering', { value: '1900-01-01' }),
    nationality: personal(p.text(), 'identity', 'moneyLaundering', { value: 'ZZ' }),
    address: personal(p.json<PostalAddress>(), 'address', 'moneyLaundering', 'empty'),
    calls: p.integer().onCreate(() => 0),
    rejection: personal(nullable.json<KycRejection>(), 'words', 'moneyLaundering', { value: '{}' }),
    decidedBy: plain(nullable.string().$type<IdentityDecider | null>()),
    decidedAt: nullable.instant(),
    /** When the provider contradicted the final answer, which a person must clarify. */
    contradictedAt: nullable.instant(),
    /** When the provider is called next; null if operators decide or the submission has ended. */
    dueAt: nullable.instant(),
    /** When the provider erases what it has collected from the person itself. */
    redactAt: nullable.instant(),
    workflowId: p.text(),
  },
})

export class KycSubmission extends schema.class {}
schema.setClass(KycSubmission)

export const isSandboxSubmission = ({ provider }: Pick<KycSubmission, 'provider'>): boolean =>
  provider === SANDBOX_PROVIDER

export const isKycSubmissionOpen = ({ status }: Pick<KycSubmission, 'status'>): boolean =>
  !kycSubmissionMachine.isFinal(status)

export interface KycRejection {
  readonly code: IdentityRejectionCode
  readonly reason: string
  readonly sendInstead: string | null
}

const words: Readonly<Record<IdentityRejectionCode, Omit<KycRejection, 'code'>>> = {
  document_unreadable: {
    reason: 'A document cannot be read.',
    sendInstead: 'Send a sharp scan or photo of the whole page, in colour.',
  },
  document_expired: {
    reason: 'A document has expired.',
    sendInstead: 'Send a valid one.',
  },
  document_not_accepted: {
    reason: 'A document is of an unsupported kind, or belongs to another person.',
    sendInstead: 'Send the passport of the person, or both sides of the identity card.',
  },
  data_mismatch: {
    reason: 'Name, date of birth or address do not match the documents.',
    sendInstead: 'Send it again, exactly as in the documents.',
  },
  person_refused: {
    reason: 'The provider cannot verify this person.',
    sendInstead: null,
  },
  other: { reason: 'The person was not verified.', sendInstead: null },
}

export const kycRejection = (
  code: IdentityRejectionCode,
  given: { readonly reason?: string | undefined; readonly sendInstead?: string | null | undefined } = {},
): KycRejection => ({
  code,
  reason: given.reason ?? words[code].reason,
  sendInstead: given.sendInstead === undefined ? words[code].sendInstead : given.sendInstead,
})

export const kycRejectionMessage = ({ reason, sendInstead }: KycRejection): string =>
  sendInstead ? `${reason} ${sendInstead}` : reason
