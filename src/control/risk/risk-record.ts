import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import type { Cents } from '../../values/money.ts'
import type { PersonalData } from '../../values/personal.ts'
import type { RiskResult } from '../rules/index.ts'

export type RiskScorePart = RiskResult['parts'][number]

export const riskRecordOutcomes = ['pass', 'review', 'deny', 'freeze', 'unfreeze'] as const

const recordSchema = defineEntity({
  ...tenantTable('RiskRecord', 'risk_events', 'agentId'),
  properties: {
    ...recordColumns('riskevent'),
    agentId: p.text(),
    outcome: p.enum(riskRecordOutcomes),
    score: p.integer(),
    signals: p.json<RiskScorePart[]>().onCreate((): RiskScorePart[] => []),
    subjectType: p.text(),
    subjectId: p.text(),
    decisionId: nullable.string(),
    alertId: nullable.string(),
    amountCents: nullable.cents('amount_cents'),
    merchant: nullable.string(),
    comment: nullable.string(),
  },
})

/** An unusual spend and its consequences, or the unfreezing of an agent by a person. The API calls it a risk event. */
export class RiskRecord extends recordSchema.class {}
recordSchema.setClass(RiskRecord)

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
> & { readonly amountCents: Cents }

export const riskAlertMachine = stateMachine('risk_alert', {
  open: ['acknowledged'],
  acknowledged: [],
})

const alertSchema = defineEntity({
  ...tenantTable('RiskAlert', 'risk_alerts', 'agentId'),
  properties: {
    ...recordColumns('alert'),
    agentId: p.text(),
    status: p.enum(riskAlertMachine.states),
    score: p.integer(),
    signals: p.json<RiskScorePart[]>(),
    subjectType: p.text(),
    subjectId: p.text(),
    merchantKey: p.text(),
    acknowledgedAt: nullable.instant(),
    acknowledgedById: nullable.string(),
    comment: nullable.string(),
    /** Null while this alert keeps the agent frozen. */
    liftedAt: nullable.instant(),
  },
})

export class RiskAlert extends alertSchema.class {}
alertSchema.setClass(RiskAlert)

export type RiskAlertRow = Pick<
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

export const riskPersonalData = {
  risk_configs: {
    personal: {},
    plain: ['weights'],
  },
  risk_events: {
    personal: {
      merchant: { kind: 'payment', ground: 'moneyLaundering', forget: 'word' },
      signals: { kind: 'payment', ground: 'moneyLaundering', forget: 'empty' },
      comment: { kind: 'words', ground: 'moneyLaundering', forget: 'word' },
    },
    plain: ['outcome', 'subject_type', 'subject_id', 'decision_id', 'alert_id'],
  },
  risk_alerts: {
    personal: {
      merchant_key: { kind: 'payment', ground: 'moneyLaundering', forget: 'word' },
      signals: { kind: 'payment', ground: 'moneyLaundering', forget: 'empty' },
      comment: { kind: 'words', ground: 'moneyLaundering', forget: 'word' },
      acknowledged_by_id: { kind: 'name', ground: 'moneyLaundering', forget: 'word' },
    },
    plain: ['subject_type', 'subject_id'],
    about: { person: ['acknowledged_by_id'] },
  },
  risk_merchants: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract', forget: 'pseudonym' },
    },
    plain: [],
  },
  risk_profiles: {
    personal: {
      last_country: { kind: 'payment', ground: 'contract', forget: { value: 'ZZ' } },
    },
    plain: [],
  },
} as const satisfies PersonalData
