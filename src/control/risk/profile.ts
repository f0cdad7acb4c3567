import type { Cents } from '../../values/money.ts'

export interface RiskSpend {
  readonly amountCents: Cents
  readonly merchant: string
  readonly country: string | null
}

/**
 * The usual spending of an agent, in a fixed size however much it has spent. Amounts, hours and the country
 * are learnt only from approved spends: otherwise an agent could make the unusual usual by repeated attempts.
 * Every declared spend counts towards velocity, so that an agent in a loop is noticed even if all its spends
 * are denied.
 */
export interface RiskProfile {
  readonly agentId: string
  /** In cents: the last approved spends, the latest one last. */
  amounts: number[]
  readonly hours: number[]
  lastCountry: string | null
  lastAt: Date | null
  /** The minute of the latest declared spend, counted from 1970. */
  minute: number
  /** The number of spends declared in that minute, in the minute before, and so on. */
  counts: number[]
}

const REMEMBERED_AMOUNTS = 64
export const MAX_VELOCITY_WINDOW_MINUTES = 60

export const emptyRiskProfile = (agentId: string): RiskProfile => ({
  agentId,
  amounts: [],
  hours: Array<number>(24).fill(0),
  lastCountry: null,
  lastAt: null,
  minute: 0,
  counts: [],
})

const minuteOf = (at: Date): number => Math.floor(at.getTime() / 60_000)

export function countDeclaredSpend(profile: RiskProfile, at: Date): void {
  const passedMinutes = Math.min(Math.max(minuteOf(at) - profile.minute, 0), MAX_VELOCITY_WINDOW_MINUTES)
  const counts = [...Array<number>(passedMinutes).fill(0), ...profile.counts].slice(
    0,
    MAX_VELOCITY_WINDOW_MINUTES,
  )
  counts[0] = (counts[0] ?? 0) + 1
  profile.counts = counts
  profile.minute = Math.max(profile.minute, minuteOf(at))
}

export const declaredWithinMinutes = ({ counts }: RiskProfile, minutes: number): number =>
  counts.slice(0, minutes).reduce((sum, count) => sum + count, 0)

/** The country counts only if no later spend has been learnt yet. */
export function learnApprovedSpend(
  profile: RiskProfile,
  { amountCents, country }: RiskSpend,
  declaredAt: Date,
): void {
  profile.amounts = [...profile.amounts, Number(amountCents)].slice(-REMEMBERED_AMOUNTS)
  const hour = declaredAt.getUTCHours()
  profile.hours[hour] = (profile.hours[hour] ?? 0) + 1
  if (country === null || (profile.lastAt && profile.lastAt > declaredAt)) return
  profile.lastCountry = country
  profile.lastAt = declaredAt
}
