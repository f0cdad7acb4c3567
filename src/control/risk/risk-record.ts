import { defineEntity, p } from '@mikro-orm/core'
import { stateMachine } from '../../kernel/contract/machine.ts'
import { nullable, recordColumns, tenantTable } from '../../kernel/database/entity.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
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
    outcome: plain(p.enum(riskRecordOutcomes)),
    score: p.integer(),
    signals: personal(
      p.json<RiskScorePart[]>().onCreate((): RiskScorePart[] => []),
      'payment',
      'moneyLaundering',
      'empty',
    ),
    subjectType: plain(p.text()),
    subjectId: plain(p.text()),
    decisionId: plain(nullable.string()),
    alertId: plain(nullable.string()),
    amountCents: nullable.cents('amount_cents'),
    merchant: personal(nullable.string(), 'payment', 'moneyLaundering', 'word'),
    comment: personal(nullable.string(), 'words', 'moneyLaundering', 'word'),
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
  ...personalTable({ about: { person: ['acknowledged_by_id'] } }),
  properties: {
    ...recordColumns('alert'),
    agentId: p.text(),
    status: p.enum(riskAlertMachine.states),
    score: p.integer(),
    signals: personal(p.json<RiskScorePart[]>(), 'payment', 'moneyLaundering', 'empty'),
    subjectType: plain(p.text()),
    subjectId: plain(p.text()),
    merchantKey: personal(p.text(), 'payment', 'moneyLaundering', 'word'),
    acknowledgedAt: nullable.instant(),
    acknowledgedById: personal(nullable.string(), 'name', 'moneyLaundering', 'word'),
    comment: personal(nullable.string(), 'words', 'moneyLaundering', 'word'),
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
