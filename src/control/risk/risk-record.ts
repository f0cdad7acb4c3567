import { defineEntity, p } from '@mikro-orm/core'
import { nullable, record, tenantTable } from '../../kernel/database/entity.ts'
import type { Euros } from '../../values/money.ts'
import type { Risk } from '../rules/index.ts'

/** What one signal adds to a score. */
export type Part = Risk['parts'][number]

export const noteOutcomes = ['pass', 'review', 'deny', 'freeze', 'unfreeze'] as const

const schema = defineEntity({
  ...tenantTable('RiskNote', 'risk_events', 'agentId'),
  properties: {
    ...record('riskevent'),
    agentId: p.text(),
    outcome: p.enum(noteOutcomes),
    score: p.integer(),
    signals: p.json<Part[]>().onCreate((): Part[] => []),
    subjectType: p.text(),
    subjectId: p.text(),
    decisionId: nullable.string(),
    alertId: nullable.string(),
    amountEuros: nullable.euros('amount_cents'),
    merchant: nullable.string(),
    comment: nullable.string(),
  },
})

/** Something of note about an agent's risk: what was unusual and what followed, or that a person let the agent go on. */
export class RiskNote extends schema.class {}
schema.setClass(RiskNote)

export type NoteRow = Pick<
  RiskNote,
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
