import { defineEntity, p } from '@mikro-orm/core'
import { machine } from '../../kernel/contract/machine.ts'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import type { ScorePart } from './risk-record.ts'

export const alertMachine = machine('risk_alert', {
  open: ['acknowledged'],
  acknowledged: [],
})

const schema = defineEntity({
  ...tenantTable('RiskAlert', 'risk_alerts', 'agentId'),
  properties: {
    ...record('alert'),
    agentId: p.text(),
    status: p.enum(alertMachine.states),
    score: p.integer(),
    signals: p.json<ScorePart[]>(),
    /** The spend that the agent was frozen for. */
    subjectType: p.text(),
    subjectId: p.text(),
    merchantKey: p.text(),
    acknowledgedAt: nullable.instant(),
    acknowledgedById: nullable.string(),
    comment: nullable.string(),
    /** When the agent was unfrozen. null = this alert still keeps it frozen. */
    liftedAt: nullable.instant(),
  },
})

export class RiskAlert extends schema.class {}
schema.setClass(RiskAlert)

export type AlertRow = Pick<
  RiskAlert,
  | 'id'
  | 'createdAt'
  | 'agentId'
  | 'status'
  | 'score'
  | 'signals'
  | 'subjectType'
  | 'subjectId'
  | 'merchantKey'
>
