import type { Ruling } from './decision.ts'

export const verdicts = ['allowed', 'person', 'denied'] as const

/** What comes of a decision: it goes through, a person is asked, it is refused. */
export type Verdict = (typeof verdicts)[number]

/** Of who has been asked already, nothing waits for a person any more. */
export const verdictOf = (
  { allowed, requiresApproval }: Pick<Ruling, 'allowed' | 'requiresApproval'>,
  isApproval = false,
): Verdict => {
  if (!allowed) return 'denied'
  return requiresApproval && !isApproval ? 'person' : 'allowed'
}

export const isStricter = (one: Verdict, other: Verdict): boolean =>
  verdicts.indexOf(one) > verdicts.indexOf(other)
