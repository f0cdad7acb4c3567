import type { Risk } from '../rules/index.ts'
import { type Pace, type Scene, type SignalName, signalNames, signals } from './signals.ts'

/** From which score on what follows: a person is asked, the spend is refused, the agent is frozen. */
export interface Thresholds {
  readonly review: number
  readonly deny: number
  readonly freeze: number
}

/** What an owner can set. */
export interface Settings extends Pace {
  readonly enabled: boolean
  readonly thresholds: Thresholds
  /** How many points each signal gives. */
  readonly weights: Readonly<Record<SignalName, number>>
}

/**
 * No signal by itself stops anything: agents do buy from new merchants, in other countries, at night. Two of the grave
 * ones, or one of them at a new merchant, are a person’s; an amount far too great in an impossible place is refused.
 */
export const defaults: Settings = {
  enabled: true,
  thresholds: { review: 50, deny: 80, freeze: 95 },
  weights: { velocity: 35, amountOutlier: 40, impossibleTravel: 40, newMerchant: 10, oddHour: 10 },
  // One a second, for ten minutes on end.
  velocityWindowMinutes: 10,
  velocityCount: 600,
}

const MOST = 100

const outcomeOf = (score: number, { review, deny, freeze }: Thresholds): Risk['outcome'] => {
  if (score >= freeze) return 'freeze'
  if (score >= deny) return 'deny'
  return score >= review ? 'review' : 'pass'
}

/** The points of all signals together, a hundred at most. A signal without weight is not looked at. */
export function score(scene: Omit<Scene, 'pace'>, settings: Settings): Risk {
  const parts = signalNames.flatMap(signal => {
    const points = settings.weights[signal]
    const message = points > 0 ? signals[signal]({ ...scene, pace: settings }) : undefined
    return message === undefined ? [] : [{ signal, points, message }]
  })
  const sum = parts.reduce((total, { points }) => total + points, 0)
  const reached = Math.min(sum, MOST)
  return { score: reached, parts, outcome: outcomeOf(reached, settings.thresholds) }
}
