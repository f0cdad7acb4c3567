import { hash } from 'node:crypto'
import type { Euros } from '../../values/money.ts'
import { foldMerchant } from '../merchants/index.ts'

/** What an agent is about to spend, as far as it can be usual or not. */
export interface Spend {
  readonly amountEuros: Euros
  readonly merchant: string
  readonly country: string | null
}

/**
 * What is usual for an agent: of a fixed size, however much it has spent. Amounts, hours and the country are learnt from
 * what was approved alone, or else who tries the unusual often enough would make it usual. What is declared counts
 * towards velocity, whatever has become of it: an agent in a loop is one although everything is denied.
 */
export interface Profile {
  readonly agentId: string
  /** The last ones, in cents, the latest one last. */
  amounts: number[]
  /** How many spends there were in each hour of UTC. */
  readonly hours: number[]
  lastCountry: string | null
  lastAt: Date | null
  /** The latest minute in which something was declared, since 1970. */
  minute: number
  /** How many were declared in it, in the one before, and so on. */
  counts: number[]
}

/** How many amounts are remembered, and over how many minutes velocity can be looked at. */
const AMOUNTS = 64
export const MOST_MINUTES = 60

export const blank = (agentId: string): Profile => ({
  ...{ agentId, amounts: [], hours: Array<number>(24).fill(0), lastCountry: null, lastAt: null },
  ...{ minute: 0, counts: [] },
})

const minuteOf = (at: Date): number => Math.floor(at.getTime() / 60_000)

/** One more is declared. */
export function count(profile: Profile, at: Date): void {
  const passed = Math.min(Math.max(minuteOf(at) - profile.minute, 0), MOST_MINUTES)
  const counts = [...Array<number>(passed).fill(0), ...profile.counts].slice(0, MOST_MINUTES)
  counts[0] = (counts[0] ?? 0) + 1
  profile.counts = counts
  profile.minute = Math.max(profile.minute, minuteOf(at))
}

/** How many have been declared in so many minutes, the present one among them. */
export const declaredIn = ({ counts }: Profile, minutes: number): number =>
  counts.slice(0, minutes).reduce((sum, one) => sum + one, 0)

/** One that was declared then has been approved. */
export function learn(profile: Profile, { amountEuros, country }: Spend, at: Date): void {
  profile.amounts = [...profile.amounts, Number(amountEuros)].slice(-AMOUNTS)
  const hour = at.getUTCHours()
  profile.hours[hour] = (profile.hours[hour] ?? 0) + 1
  if (country === null || (profile.lastAt && profile.lastAt > at)) return
  profile.lastCountry = country
  profile.lastAt = at
}

/** A merchant however it is spelled, and short enough for an index. */
export const merchantKey = (merchant: string): string =>
  hash('sha256', foldMerchant(merchant), 'base64url').slice(0, 22)
