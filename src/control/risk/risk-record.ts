import { defineEntity, p } from '@mikro-orm/core'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import type { Euros } from '../../values/money.ts'
import type { Risk } from '../rules/index.ts'

/** The points that one signal adds to a score. */
export type ScorePart = Risk['parts'][number]

export const riskRecordOutcomes = ['pass', 'review', 'deny', 'freeze', 'unfreeze'] as const

const schema = defineEntity({
  ...tenantTable('RiskRecord', 'risk_events', 'agentId'),
  properties: {
    ...record('riskevent'),
    agentId: p.text(),
    outcome: p.enum(riskRecordOutcomes),
    score: p.integer(),
    signals: p.json<ScorePart[]>().onCreate((): ScorePart[] => []),
    subjectType: p.text(),
    subjectId: p.text(),
    decisionId: nullable.string(),
    alertId: nullable.string(),
    amountEuros: nullable.euros('amount_cents'),
    merchant: nullable.string(),
    comment: nullable.string(),
  },
})

/** An unusual spend and what followed from it, or the unfreezing of an agent by a person. The API calls it a risk event. */
export class RiskRecord extends schema.class {}
schema.setClass(RiskRecord)

export type RiskRecordRow = Pick<
  RiskRecord,
  | 'id'
  | 'createdAt'
  | 'agentId'
  | 'outcome'
  | 'score'
  | 'signals'
  | 'subjectType'
  | 'subjectId'
  | 'decisionId'
  | 'alertId'
  | 'merchant'
> & { readonly amountEuros: Euros }
