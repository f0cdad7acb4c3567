import type {
  CheckStatus,
  FinalStatus,
  RejectionCode,
  Unanswered,
} from '../../ports/identity-verification.ts'
import { after, days, minutes } from '../../values/clock.ts'

/** How the sandbox treats a person. Documented in docs/onboarding.md. */
export interface MagicRule {
  /** Until then, counted from the submission, no call is answered otherwise. */
  readonly fails?: { readonly forMs: number; readonly as: Unanswered }
  /** Until then the check that was submitted is not known when it is asked for. */
  readonly forgetsForMs?: number
  readonly reviewMs: number
  readonly end: FinalStatus
  /** The notices that are sent while the check is being submitted, one after the other. */
  readonly notices?: readonly FinalStatus[]
}

const VERIFIED: FinalStatus = { status: 'verified' }
const rejected = (code: RejectionCode): FinalStatus => ({ status: 'rejected', code })
const atOnce = (end: FinalStatus): MagicRule => ({ reviewMs: 0, end })

const ALWAYS = days(365 * 200)

/** By the beginning of the name, in any case; the first that matches counts. */
const rules: readonly (readonly [beginning: string, rule: MagicRule])[] = [
  ['Later rejected', { reviewMs: days(1), end: rejected('data_mismatch') }],
  ['Later', { reviewMs: days(1), end: VERIFIED }],
  ['Silent', { fails: { forMs: minutes(60), as: 'late' }, reviewMs: 0, end: VERIFIED }],
  ['Failing', { fails: { forMs: minutes(60), as: 'unusable' }, reviewMs: 0, end: VERIFIED }],
  ['Absent', { fails: { forMs: ALWAYS, as: 'late' }, reviewMs: 0, end: VERIFIED }],
  ['Forgotten', { forgetsForMs: minutes(10), reviewMs: minutes(10), end: VERIFIED }],
  ['Twice', { ...atOnce(VERIFIED), notices: [VERIFIED, VERIFIED] }],
  ['Contrary', { ...atOnce(VERIFIED), notices: [rejected('data_mismatch'), VERIFIED] }],
  ['Unreadable', atOnce(rejected('document_unreadable'))],
  ['Expired', atOnce(rejected('document_expired'))],
  ['Mismatch', atOnce(rejected('data_mismatch'))],
  ['Refused', atOnce(rejected('person_refused'))],
]

export const magicWords: readonly string[] = rules.map(([beginning]) => beginning)

export const ruleFor = (name: string): MagicRule =>
  rules.find(([beginning]) => `${name.toLowerCase()} `.startsWith(`${beginning.toLowerCase()} `))?.[1] ??
  atOnce(VERIFIED)

/** The answer of a rule to a call about a check that was submitted then. */
export function answerAt(
  now: Date,
  { fails, forgetsForMs = 0, reviewMs, end }: MagicRule,
  submittedAt: Date,
  call: 'submit' | 'inquire',
): CheckStatus | Unanswered {
  const passedMs = now.getTime() - submittedAt.getTime()
  if (fails && passedMs < fails.forMs) return fails.as
  if (call === 'inquire' && passedMs < forgetsForMs) return { status: 'unknown' }
  return passedMs < reviewMs ? { status: 'in_review', expectedAt: after(submittedAt, reviewMs) } : end
}
