import { defineEntity, p } from '@mikro-orm/core'
import { flag, record, tenantTable } from '../../kernel/database/entity.ts'
import { defaults, type Settings } from './score.ts'

const schema = defineEntity({
  ...tenantTable('RiskConfig', 'risk_configs'),
  properties: {
    ...record('riskconfig'),
    enabled: flag(),
    review: p.integer().name('review_from'),
    deny: p.integer().name('deny_from'),
    freeze: p.integer().name('freeze_from'),
    weights: p.json<Settings['weights']>(),
    velocityWindowMinutes: p.integer(),
    velocityCount: p.integer(),
  },
})

/** What an owner has set; where there is none, the defaults hold. */
export class RiskConfig extends schema.class {}
schema.setClass(RiskConfig)

type Row = Pick<
  RiskConfig,
  'enabled' | 'review' | 'deny' | 'freeze' | 'weights' | 'velocityWindowMinutes' | 'velocityCount'
>

export const rowOf = ({ thresholds, ...others }: Settings): Row => ({ ...others, ...thresholds })

export function settingsOf(row: Row | null): Settings {
  if (!row) return defaults
  const { enabled, review, deny, freeze, weights, velocityWindowMinutes, velocityCount } = row
  return { enabled, thresholds: { review, deny, freeze }, weights, velocityWindowMinutes, velocityCount }
}
