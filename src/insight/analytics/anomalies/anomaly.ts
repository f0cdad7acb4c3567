import type { Euros } from '../../../values/money.ts'
import { formatEuros } from '../../../values/money.ts'

export const anomalyKinds = [
  'day_above_usual',
  'merchant_above_usual',
  'subscription_dearer',
  'charged_twice',
  'new_merchant',
  'budget_at_this_pace',
  'outside_of_runs',
] as const

export const anomalyGroupings = ['kind', 'agent', 'merchant'] as const
export type AnomalyGrouping = (typeof anomalyGroupings)[number]

/** The figures that the sentence rests on; those that it does not are left out. */
export interface Rests {
  readonly amountEuros: Euros
  readonly usualEuros?: Euros
  readonly limitEuros?: Euros
  readonly share?: number
  readonly deviations?: number
  readonly times?: number
}

/** Something that a person may want to look at. */
export interface Anomaly {
  readonly kind: (typeof anomalyKinds)[number]
  /** Null where the owner has paid. */
  readonly agentId: string | null
  readonly merchant: string | null
  /** The day, or the last of the days, on which it showed. */
  readonly day: string
  readonly sentence: string
  readonly figures: Rests
  /** From 0.5, just unusual, up to 1. */
  readonly score: number
}

/** How far a value lies beyond the bound from which on it is unusual. */
export const scoreOf = (value: number, bound: number): number =>
  value > 0 ? 1 - bound / (2 * Math.max(value, bound)) : 0.5

export const inPercent = (share: number): string => `${Math.round(share * 100)} %`
export const inEuros = formatEuros
export const rounded = (value: number): number => Math.round(value * 100) / 100
