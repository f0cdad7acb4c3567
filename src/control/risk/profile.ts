import type { Cents } from '../../values/money.ts'

/** The members of a spend that can be usual or unusual. */
export interface Spend {
  readonly amountCents: Cents
  readonly merchant: string
  readonly country: string | null
}

/**
 * What is usual for an agent. Its size is fixed, however much the agent has spent. Amounts, hours and the country are
 * learnt from approved spends alone: otherwise an agent could make the unusual usual by trying it often enough. Every
 * declared spend counts towards velocity: an agent in a loop is noticed although everything is denied.
 */
export interface Profile {
  readonly agentId: string
  /** The last approved amounts in cents, the latest one last. */
  amounts: number[]
  /** How many approved spends fell into each hour of UTC. */
  readonly hours: number[]
  lastCountry: string | null
  lastAt: Date | null
  /** The latest minute in which a spend was declared, counted from 1970. */
  minute: number
  /** How many spends were declared in that minute, in the minute before, and so on. */
  counts: number[]
}

const REMEMBERED_AMOUNTS = 64
/** The longest window over which velocity is counted. */
export const MAX_WINDOW_MINUTES = 60

export const emptyProfile = (agentId: string): Profile => ({
  agentId,
  amounts: [],
  hours: Array<number>(24).fill(0),
  lastCountry: null,
  lastAt: null,
  minute: 0,
  counts: [],
})

const minuteOf = (at: Date): number => Math.floor(at.getTime() / 60_000)

/** Counts one more declared spend. */
export function countDeclared(profile: Profile, at: Date): void {
  const passedMinutes = Math.min(Math.max(minuteOf(at) - profile.minute, 0), MAX_WINDOW_MINUTES)
  const counts = [...Array<number>(passedMinutes).fill(0), ...profile.counts].slice(0, MAX_WINDOW_MINUTES)
  counts[0] = (counts[0] ?? 0) + 1
  profile.counts = counts
  profile.minute = Math.max(profile.minute, minuteOf(at))
}

/** How many spends were declared in the last minutes, the present minute included. */
export const declaredIn = ({ counts }: Profile, minutes: number): number =>
  counts.slice(0, minutes).reduce((sum, count) => sum + count, 0)

/** Learns from an approved spend. Its country counts only if no later spend has been learnt already. */
export function learnApproved(profile: Profile, { amountCents, country }: Spend, declaredAt: Date): void {
  profile.amounts = [...profile.amounts, Number(amountCents)].slice(-REMEMBERED_AMOUNTS)
  const hour = declaredAt.getUTCHours()
  profile.hours[hour] = (profile.hours[hour] ?? 0) + 1
  if (country === null || (profile.lastAt && profile.lastAt > declaredAt)) return
  profile.lastCountry = country
  profile.lastAt = declaredAt
}
