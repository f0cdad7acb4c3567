import { defineEntity, p } from '@mikro-orm/core'
import { flag, record, tenantTable } from '../../kernel/database/entity.ts'
import { defaultRiskSettings, type RiskSettings } from './score.ts'

const schema = defineEntity({
  ...tenantTable('RiskConfig', 'risk_configs'),
  properties: {
    ...record('riskconfig'),
    enabled: flag(),
    review: p.integer().name('review_from'),
    deny: p.integer().name('deny_from'),
    freeze: p.integer().name('freeze_from'),
    weights: p.json<RiskSettings['weights']>(),
    velocityWindowMinutes: p.integer(),
    velocityCount: p.integer(),
  },
})

/** The risk settings of an owner; an owner without a row has the defaults. */
export class RiskConfig extends schema.class {}
schema.setClass(RiskConfig)

type ConfigRow = Pick<
  RiskConfig,
  'enabled' | 'review' | 'deny' | 'freeze' | 'weights' | 'velocityWindowMinutes' | 'velocityCount'
>

export const configRowOf = ({ thresholds, ...others }: RiskSettings): ConfigRow => ({
  ...others,
  ...thresholds,
})

export function settingsOf(row: ConfigRow | null): RiskSettings {
  if (!row) return defaultRiskSettings
  const { enabled, review, deny, freeze, weights, velocityWindowMinutes, velocityCount } = row
  return { enabled, thresholds: { review, deny, freeze }, weights, velocityWindowMinutes, velocityCount }
}
