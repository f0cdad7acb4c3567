import { defineEntity, p } from '@mikro-orm/core'
import { findIntent } from '../../control/intents/index.ts'
import { area } from '../../kernel/contract/area.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { Refusal } from '../../kernel/contract/problem.ts'
import { createdWithinCondition } from '../../kernel/database/created-within.ts'
import {
  definedOnly,
  FOR_UPDATE,
  mayReachRecord,
  mayUseRecord,
  metadataColumn,
  nullable,
  recordColumns,
  tenantTable,
  timestampColumn,
} from '../../kernel/database/entity.ts'
import { getRecord } from '../../kernel/database/get-record.ts'
import { personal, personalTable, plain } from '../../kernel/database/personal.ts'
import { canonicalJson } from '../../values/canonical-json.ts'
import { inclusiveSpan, resolveReportScope } from '../reports/index.ts'
import { merchantOfSpend, withSpendSnapshot } from '../spend/index.ts'
import { outcomesApi } from './api.ts'
import { computeOutcomeSummary, outcomeSummaryViews } from './summary.ts'

const schema = defineEntity({
  ...tenantTable('Outcome', 'outcomes', 'agentId', 'delegationId'),
  ...personalTable({
    about: {
      beneficiary: [
        '(select i.beneficiary_id from intents i where (i.owner_id, i.mode, i.id) = (t.owner_id, t.mode, t.intent_id))',
      ],
    },
  }),
  properties: {
    ...recordColumns('outcome'),
    agentId: p.text(),
    delegationId: nullable.string(),
    intentId: p.text(),
    runId: nullable.string(),
    merchant: personal(p.text(), 'payment', 'contract', 'word'),
    mcc: plain(nullable.string()),
    declaredAt: timestampColumn(),
    success: p.boolean(),
    valueCents: nullable.cents('value_cents'),
    note: personal(nullable.string(), 'words', 'contract', 'word'),
    metadata: personal(metadataColumn(), 'words', 'contract', 'empty'),
  },
})

class Outcome extends schema.class {}
schema.setClass(Outcome)

const outcomeEvent = ({ id, intentId, agentId, runId, delegationId, success, valueCents }: Outcome) => ({
  outcomeId: id,
  intentId,
  agentId,
  ...(runId ? { runId } : {}),
  ...(delegationId ? { delegationId } : {}),
  success,
  valueCents,
})

type Correction = Partial<Pick<Outcome, 'success' | 'valueCents' | 'note' | 'metadata'>>

const isSame = (one: unknown, other: unknown): boolean =>
  typeof one === 'object' && typeof other === 'object' && one && other
    ? canonicalJson(one) === canonicalJson(other)
    : one === other

function replacedBy(correction: Correction, outcome: Outcome): Correction {
  const names = Object.keys(correction) as (keyof Correction)[]
  const changed = names.filter(name => !isSame(correction[name], outcome[name]))
  return Object.fromEntries(changed.map(name => [name, outcome[name]]))
}

const inList = (metadata: Outcome['metadata']) =>
  Object.entries(metadata).map(([name, text]) => ({ name, text }))

const previousValues = ({ metadata, ...before }: Correction) =>
  metadata ? { ...before, metadata: inList(metadata) } : before

const outcomes = bindHandlers(outcomesApi, {
  async create({ body }, { em, actor, emit, refuse }) {
    const intent = await findIntent(em, body.intentId)
    if (!intent) return refuse('intent_not_found')
    if (!mayUseRecord(actor, intent)) return refuse('intent_other_token')
    // The second of two concurrent reports violates the unique index, is retried, and finds the first.
    if (await em.findOne(Outcome, { intentId: intent.id })) return refuse('outcome_reported')
    const { agentId, delegationId, runId, mcc, createdAt: declaredAt } = intent
    const merchant = merchantOfSpend(intent.merchant)
    const outcome = em.create(Outcome, {
      ...body,
      agentId,
      delegationId,
      runId,
      merchant,
      mcc,
      declaredAt,
    })
    emit('outcome.reported', outcomeEvent(outcome))
    return outcome
  },

  async list({ query: { agentId, intentId, runId, success, from, to } }, context) {
    const created = await createdWithinCondition('outcome', { from, to }, context)
    return context.page(
      Outcome,
      definedOnly({
        agentId,
        intentId,
        runId,
        success: success === undefined ? undefined : success === 'true',
        ...created,
      }),
    )
  },

  async summary({ query: { groupBy, limit, ...wished } }, context) {
    const scope = await resolveReportScope(wished, context)
    if (scope instanceof Refusal) return scope
    const summary = await withSpendSnapshot(
      context,
      { ...scope, views: outcomeSummaryViews(groupBy) },
      spend => computeOutcomeSummary(spend, { ...scope, groupBy, limit }),
    )
    return { ...inclusiveSpan(scope), groupBy, ...summary }
  },

  get: getRecord(Outcome, 'outcome_not_found'),

  async update({ params, body }, { em, actor, emit, refuse }) {
    const correction = definedOnly(body)
    const outcome = await em.findOne(Outcome, { id: params.id }, FOR_UPDATE)
    if (!outcome || !mayReachRecord(actor, outcome)) return refuse('outcome_not_found')
    const before = replacedBy(correction, outcome)
    if (Object.keys(before).length === 0) return outcome
    Object.assign(outcome, correction)
    emit('outcome.corrected', { ...outcomeEvent(outcome), before: previousValues(before) })
    return outcome
  },
})

export const outcomesArea = area(
  'Outcomes',
  'Whether payments served their purpose and were worth it, as agents and owners report.',
  outcomes,
  { entities: [Outcome] },
)
