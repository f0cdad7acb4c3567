import { defineEntity, p } from '@mikro-orm/core'
import { nullable, record, tenantTable, timestamp } from '../../kernel/database/entity.ts'
import type { Personal } from '../../values/personal.ts'

const schema = defineEntity({
  ...tenantTable('Outcome', 'outcomes', 'agentId', 'delegationId'),
  properties: {
    ...record('outcome'),
    agentId: p.text(),
    /** The delegation under which the intent was declared. */
    delegationId: nullable.string(),
    intentId: p.text(),
    runId: nullable.string(),
    /** As payments are grouped. */
    merchant: p.text(),
    mcc: nullable.string(),
    /** When the intent was declared: a summary is of the intents of its days. */
    declaredAt: timestamp(),
    success: p.boolean(),
    valueEuros: nullable.euros('value_cents'),
    note: nullable.string(),
    metadata: p.json<Record<string, string>>().onCreate(() => ({})),
  },
})

/** What has come of an intent: one for each at most. */
export class Outcome extends schema.class {}
schema.setClass(Outcome)

/** What agents and owners say has come of payments. */
export const outcomesPersonal = {
  outcomes: {
    personal: {
      merchant: { kind: 'payment', ground: 'contract', forget: 'word' },
      note: { kind: 'words', ground: 'contract', forget: 'word' },
      metadata: { kind: 'words', ground: 'contract', forget: 'empty' },
    },
    plain: ['mcc'],
    about: {
      beneficiary: [
        '(select i.beneficiary_id from intents i where (i.owner_id, i.mode, i.id) = (t.owner_id, t.mode, t.intent_id))',
      ],
    },
  },
} as const satisfies Personal
