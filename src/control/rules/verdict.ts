import type { Ruling } from './decision.ts'

export const verdicts = ['allowed', 'person', 'denied'] as const

/** The result of a decision for the agent: the spend is allowed, a person is asked, it is denied. */
export type Verdict = (typeof verdicts)[number]

/** The verdict of a ruling. An approval does not wait for a person again. */
export const verdictOf = (
  { allowed, requiresApproval }: Pick<Ruling, 'allowed' | 'requiresApproval'>,
  isApproval = false,
): Verdict => {
  if (!allowed) return 'denied'
  return requiresApproval && !isApproval ? 'person' : 'allowed'
}

export const isStricter = (verdict: Verdict, other: Verdict): boolean =>
  verdicts.indexOf(verdict) > verdicts.indexOf(other)
