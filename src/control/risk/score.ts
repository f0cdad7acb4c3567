import { defineEntity, p } from '@mikro-orm/core'
import { booleanColumn, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { plain } from '../../kernel/database/personal.ts'
import type { RiskResult } from '../rules/index.ts'
import {
  type RiskSignalInput,
  type RiskSignalName,
  riskSignalNames,
  riskSignals,
  type VelocityLimit,
} from './signals.ts'

interface Thresholds {
  readonly review: number
  readonly deny: number
  readonly freeze: number
}

export interface RiskSettings extends VelocityLimit {
  readonly enabled: boolean
  readonly thresholds: Thresholds
  readonly weights: Readonly<Record<RiskSignalName, number>>
}

/**
 * No signal stops a spend by itself: agents do buy from new merchants, in other countries, at night. Two
 * grave signals, or one of them at a new merchant, go to a person; an amount far too large in an impossible
 * place is refused.
 */
export const defaultRiskSettings: RiskSettings = {
  enabled: true,
  thresholds: { review: 50, deny: 80, freeze: 95 },
  weights: { velocity: 35, amountOutlier: 40, impossibleTravel: 40, newMerchant: 10, oddHour: 10 },
  velocityWindowMinutes: 10,
  velocityCount: 600,
}

const MAX_SCORE = 100

const outcomeOf = (score: number, { review, deny, freeze }: Thresholds): RiskResult['outcome'] => {
  if (score >= freeze) return 'freeze'
  if (score >= deny) return 'deny'
  return score >= review ? 'review' : 'pass'
}

/** Returns a hundred points at most. A signal of weight 0 is not evaluated. */
export function scoreRisk(input: Omit<RiskSignalInput, 'velocityLimit'>, settings: RiskSettings): RiskResult {
  const parts = riskSignalNames.flatMap(signal => {
    const points = settings.weights[signal]
    const message = points > 0 ? riskSignals[signal]({ ...input, velocityLimit: settings }) : undefined
    return message === undefined ? [] : [{ signal, points, message }]
  })
  const sum = parts.reduce((points, part) => points + part.points, 0)
  const total = Math.min(sum, MAX_SCORE)
  return { score: total, parts, outcome: outcomeOf(total, settings.thresholds) }
}

const schema = defineEntity({
  ...tenantTable('RiskConfig', 'risk_configs'),
  properties: {
    ...recordColumns('riskconfig'),
    enabled: booleanColumn(),
    review: p.integer().name('review_from'),
    deny: p.integer().name('deny_from'),
    freeze: p.integer().name('freeze_from'),
    weights: plain(p.json<RiskSettings['weights']>()),
    velocityWindowMinutes: p.integer(),
    velocityCount: p.integer(),
  },
})

export class RiskConfig extends schema.class {}
schema.setClass(RiskConfig)

type ConfigRow = Pick<
  RiskConfig,
  'enabled' | 'review' | 'deny' | 'freeze' | 'weights' | 'velocityWindowMinutes' | 'velocityCount'
>

export const riskConfigRow = ({ thresholds, ...others }: RiskSettings): ConfigRow => ({
  ...others,
  ...thresholds,
})

export function riskSettingsFromRow(row: ConfigRow | null): RiskSettings {
  if (!row) return defaultRiskSettings
  const { enabled, review, deny, freeze, weights, velocityWindowMinutes, velocityCount } = row
  return { enabled, thresholds: { review, deny, freeze }, weights, velocityWindowMinutes, velocityCount }
}
