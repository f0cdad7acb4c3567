import type { Tenant } from '../../kernel/contract/actor.ts'
import type { HotHandler, NonEmpty } from '../../kernel/contract/handlers.ts'
import type { HandlerOf, InputOf } from '../../kernel/contract/operation.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { mayReachRecord, mayUseRecord } from '../../kernel/database/entity.ts'
import type { LockedBook } from '../../money/ledger/index.ts'
import type { BudgetCounters } from '../budgets/index.ts'
import { type DecisionRow, insertDecisions } from '../decisions/index.ts'
import type { SpendingAgent } from '../policies/index.ts'
import { loadRiskAssessor, type RiskAssessor } from '../risk/index.ts'
import type { intentSteps, intentsApi } from './api.ts'
import { type BudgetLevels, loadBudgetLevels, loadBudgetLevelsOfIntents } from './budget-levels.ts'
import { cancelIntent } from './cancel.ts'
import { type IntentRow, intentCause, intentMachine, updateIntents } from './intent.ts'
import { intentProcess } from './process.ts'
import { intentEvent, type LatestIntentPayments, latestIntentPayments } from './response.ts'
import { SpendLocks } from './spend-locks.ts'

export type ApproveIntentHandler = HandlerOf<typeof intentsApi.approve>
type Cancel = HandlerOf<typeof intentsApi.cancel>
type Expire = HotHandler<InputOf<typeof intentsApi.get>, null, never, (typeof intentSteps.expire)['emits']>
export type IntentBatchRequest = Parameters<(ApproveIntentHandler | Cancel | Expire)['decide']>[0]

export interface IntentBatch {
  readonly tenant: Tenant
  readonly agents: ReadonlyMap<string, SpendingAgent>
  readonly intents: ReadonlyMap<string, IntentRow>
  readonly levels: BudgetLevels
  readonly counters: BudgetCounters
  readonly book: LockedBook
  readonly riskAssessor: RiskAssessor
  readonly changed: Set<IntentRow>
  readonly decisions: DecisionRow[]
}

/**
 * An approval reserves, so it needs the budget levels and the risk. An end releases, so it needs the reservations and
 * holds instead.
 */
export async function loadIntentBatch(
  requests: NonEmpty<IntentBatchRequest>,
  sql: Sql,
  purpose: 'approve' | 'end',
  { service }: Pick<Ports, 'service'>,
): Promise<IntentBatch> {
  const { tenant, now } = requests[0]
  const ends = purpose === 'end'
  const ids = [...new Set(requests.map(({ input }) => input.params.id))]
  const locks = new SpendLocks(sql, { tenant, now })
  const [agents, levels] = await Promise.all([
    locks.agentsOf(ids),
    ends ? loadBudgetLevels(sql, tenant, [], service) : loadBudgetLevelsOfIntents(sql, tenant, ids, service),
  ])
  const causes = ids.map(id => intentCause({ id }))
  const { counters, book, intents } = await locks.take({
    ...(ends
      ? { reservations: causes, holds: causes }
      : { spending: [...agents.keys(), ...levels.subjects] }),
    wallets: [...agents.values()].map(({ walletId }) => walletId),
    intents: ids,
  })
  const riskAssessor = await loadRiskAssessor(sql, { tenant, now }, ends ? [] : [...intents.values()])
  return { tenant, agents, intents, levels, counters, book, riskAssessor, changed: new Set(), decisions: [] }
}

export async function writeIntentBatch(
  { tenant, counters, book, riskAssessor, changed, decisions }: IntentBatch,
  sql: Sql,
): Promise<void> {
  await Promise.all([
    updateIntents(sql, tenant, [...changed]),
    insertDecisions(sql, decisions),
    counters.write(sql),
    riskAssessor.write(sql),
    book.post(sql),
  ])
}

function release(intent: IntentRow, { counters, book, changed }: IntentBatch): void {
  changed.add(intent)
  counters.release(intentCause(intent))
  book.release(intentCause(intent))
}

interface CancelState extends IntentBatch {
  readonly payments: LatestIntentPayments
}

export const cancelIntentOperation: Cancel = {
  async load(requests, sql, ports): Promise<CancelState> {
    const state = await loadIntentBatch(requests, sql, 'end', ports)
    const payments = await latestIntentPayments([...state.intents.values()], {
      sql,
      tenant: state.tenant,
      ...ports,
    })
    return { ...state, payments }
  },
  decide(request, state: CancelState, verdict) {
    const { refuse } = verdict
    const { input, actor, now } = request
    const intent = state.intents.get(input.params.id)
    if (!intent || !mayReachRecord(actor, intent)) return refuse('intent_not_found')
    if (!mayUseRecord(actor, intent)) return refuse('intent_other_token')
    if (intentMachine.isFinal(intent.status))
      return refuse('intent_closed', alreadyInStatusMessage(intent.status))
    if (intent.paymentId) return refuse('intent_being_paid')
    if (intent.expiresAt <= now) return refuse('intent_expired')
    cancelIntent(intent, input.body.comment, verdict)
    intent.updatedAt = now
    release(intent, state)
    return state.payments.responseOf(intent)
  },
  write: writeIntentBatch,
}

/** Expires an intent past its deadline by the tenant's clock. The second time changes nothing. */
export const intentExpiry: Expire = {
  load: (requests, sql, ports) => loadIntentBatch(requests, sql, 'end', ports),
  decide({ input, now }, state: IntentBatch, { emit, wake }) {
    const intent = state.intents.get(input.params.id)
    if (!intent || intent.paymentId || intent.expiresAt > now || !intentMachine.move(intent, 'expired'))
      return null
    intent.updatedAt = now
    release(intent, state)
    emit('intent.expired', intentEvent(intent))
    if (intent.workflowId) wake(intentProcess, intent)
    return null
  },
  write: writeIntentBatch,
}

export const alreadyInStatusMessage = (status: string): string => `The intent is already ${status}.`
