import { formatEuros } from '../../values/money.ts'
import { distanceBetween } from './centroids.ts'
import { declaredIn, type Profile, type Spend } from './profile.ts'
import { deviationOf, MAX_DEVIATIONS, MIN_DEVIATION_SHARE, medianOf } from './usual.ts'

export const signalNames = [
  'velocity',
  'amountOutlier',
  'impossibleTravel',
  'newMerchant',
  'oddHour',
] as const
export type SignalName = (typeof signalNames)[number]

/** How many spends within how many minutes are usual. */
export interface VelocityLimit {
  readonly velocityWindowMinutes: number
  readonly velocityCount: number
}

/** A spend at an instant, and what is usual for its agent. */
export interface SignalInput {
  readonly spend: Spend
  readonly at: Date
  /** Has counted this spend, and not learnt it yet. */
  readonly profile: Profile
  readonly isKnownMerchant: boolean
  readonly velocityLimit: VelocityLimit
}

/** Says in words what is unusual about a spend; undefined if nothing is. */
export type Signal = (input: SignalInput) => string | undefined

export const velocity: Signal = ({ profile, velocityLimit }) => {
  const { velocityWindowMinutes: window, velocityCount } = velocityLimit
  const declared = declaredIn(profile, window)
  if (declared <= velocityCount) return undefined
  return `${declared} spends were declared within ${window} minutes, more than ${velocityCount}.`
}

/** Fewer amounts say nothing about what is usual. */
const MIN_AMOUNTS = 20

/**
 * Measures by the median and the deviations from it, so that a few great amounts do not make the next one usual. An
 * amount below the median is never unusual.
 */
export const amountOutlier: Signal = ({ spend, profile: { amounts } }) => {
  if (amounts.length < MIN_AMOUNTS) return undefined
  const usual = medianOf(amounts)
  const excess = Number(spend.amountEuros) - usual
  if (excess <= MAX_DEVIATIONS * MIN_DEVIATION_SHARE * usual) return undefined
  if (excess <= MAX_DEVIATIONS * deviationOf(amounts, usual)) return undefined
  const usualEuros = formatEuros(BigInt(Math.round(usual)))
  return `${formatEuros(spend.amountEuros)} is far more than the agent usually spends, ${usualEuros}.`
}

/** The speed of an airliner. */
const MAX_KM_PER_HOUR = 900
/** Shorter distances are possible across any border. */
const MIN_KM = 500

export const impossibleTravel: Signal = ({ spend, at, profile: { lastCountry, lastAt } }) => {
  if (!lastCountry || !lastAt || !spend.country) return undefined
  const distance = distanceBetween(lastCountry, spend.country) ?? 0
  const hours = Math.abs(at.getTime() - lastAt.getTime()) / 3_600_000
  if (distance <= MIN_KM || distance <= MAX_KM_PER_HOUR * hours) return undefined
  const apart = `${Math.floor(hours * 60)} minutes`
  return `${lastCountry} and ${spend.country} are ${Math.round(distance)} km and ${apart} apart.`
}

export const newMerchant: Signal = ({ isKnownMerchant }) =>
  isKnownMerchant ? undefined : 'The agent has never paid this merchant.'

/** Fewer spends say nothing about the usual hours. */
const MIN_SPENDS = 50
/** A time of day is odd if a smaller share of all spends lies within an hour of it. */
const RARE_SHARE = 0.01

export const oddHour: Signal = ({ at, profile: { hours } }) => {
  const total = hours.reduce((sum, count) => sum + count, 0)
  const present = at.getUTCHours()
  const near = [present + 23, present, present + 1].reduce((sum, hour) => sum + (hours[hour % 24] ?? 0), 0)
  if (total < MIN_SPENDS || near >= RARE_SHARE * total) return undefined
  return `The agent hardly ever spends around ${at.toISOString().slice(11, 16)} UTC.`
}

export const signals: Readonly<Record<SignalName, Signal>> = {
  velocity,
  amountOutlier,
  impossibleTravel,
  newMerchant,
  oddHour,
}
