import type { Tenant } from '../../kernel/contract/actor.ts'
import type { NonEmpty } from '../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Book, openBook } from '../../money/ledger/index.ts'
import { type BudgetCounters, openCounters } from '../budgets/index.ts'
import { type DecisionRow, insertDecisions } from '../decisions/index.ts'
import { lockSpendersOfIntents, type Spender } from '../policies/index.ts'
import { openRiskAssessor, type RiskAssessor } from '../risk/index.ts'
import type { intentsApi } from './api.ts'
import { type BudgetLevels, openBudgetLevels, openBudgetLevelsOfIntents } from './budget-levels.ts'
import { cancelIntent } from './cancel.ts'
import { causeOf, type IntentRow, intentMachine, lockIntents, updateIntents } from './intent.ts'
import { intentProcess } from './process.ts'
import { intentEvent, type LatestPayments, latestPayments } from './response.ts'

export type Approve = HandlerOf<typeof intentsApi.approve>
type Cancel = HandlerOf<typeof intentsApi.cancel>
type Expire = HandlerOf<typeof intentsApi.expire>
export type IntentBatchRequest = Parameters<(Approve | Cancel | Expire)['decide']>[0]

export interface IntentBatch {
  readonly tenant: Tenant
  readonly agents: ReadonlyMap<string, Spender>
  readonly intents: ReadonlyMap<string, IntentRow>
  readonly levels: BudgetLevels
  readonly counters: BudgetCounters
  readonly book: Book
  readonly riskAssessor: RiskAssessor
  readonly changed: Set<IntentRow>
  readonly decisions: DecisionRow[]
}

/**
 * Locks in the global order: agents, counters, accounts, then the intents. An approval reserves, so it needs
 * the budget levels and the risk. An end releases, so it needs the reservations and holds instead.
 */
export async function loadBatch(
  requests: NonEmpty<IntentBatchRequest>,
  sql: Sql,
  purpose: 'approve' | 'end',
): Promise<IntentBatch> {
  const { tenant, now } = requests[0]
  const ends = purpose === 'end'
  const ids = [...new Set(requests.map(({ input }) => input.params.id))]
  const [agents, levels] = await Promise.all([
    lockSpendersOfIntents(sql, tenant, ids),
    ends ? openBudgetLevels(sql, tenant, []) : openBudgetLevelsOfIntents(sql, tenant, ids),
  ])
  const agentIds = [...agents.keys()]
  const causes = ends ? ids.map(id => causeOf({ id })) : []
  const countersToOpen = ends ? { causes, agents: agentIds } : { spending: [...agentIds, ...levels.subjects] }
  const wallets = [...agents.values()].map(({ walletId }) => walletId)
  const [counters, book, intents] = await Promise.all([
    openCounters(sql, { tenant, now }, countersToOpen),
    openBook(sql, { tenant, now }, { wallets, holds: causes }),
    lockIntents(sql, tenant, ids),
  ])
  const riskAssessor = await openRiskAssessor(sql, { tenant, now }, ends ? [] : [...intents.values()])
  return { tenant, agents, intents, levels, counters, book, riskAssessor, changed: new Set(), decisions: [] }
}

export async function writeBatch(
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
  counters.release(causeOf(intent))
  book.release(causeOf(intent))
}

interface CancelState extends IntentBatch {
  readonly payments: LatestPayments
}

/** An agent's token reaches the intents of its agent, and a delegation's token those under the delegation. */
const isReached = ({ agentId, delegationId }: IntentRow, { actor }: IntentBatchRequest): boolean =>
  (!actor.agentId || actor.agentId === agentId) &&
  (!actor.delegationId || actor.delegationId === delegationId)

export const cancel: Cancel = {
  async load(requests, sql, ports): Promise<CancelState> {
    const state = await loadBatch(requests, sql, 'end')
    const payments = await latestPayments([...state.intents.values()], { sql, tenant: state.tenant, ports })
    return { ...state, payments }
  },
  decide(request, state: CancelState, { emit, refuse, wake }) {
    const { input, now } = request
    const intent = state.intents.get(input.params.id)
    if (!intent || !isReached(intent, request)) return refuse('intent_not_found')
    if (intentMachine.isFinal(intent.status)) return refuse('intent_closed', alreadyMessage(intent.status))
    if (intent.paymentId) return refuse('intent_being_paid')
    if (intent.expiresAt <= now) return refuse('intent_expired')
    cancelIntent(intent, input.body.comment, { emit, wake })
    intent.updatedAt = now
    release(intent, state)
    return state.payments.responseOf(intent)
  },
  write: writeBatch,
}

/**
 * Expires an intent past its deadline by the tenant's clock. Sweep and process may both call this; the second
 * call changes nothing.
 */
export const expire: Expire = {
  load: (requests, sql) => loadBatch(requests, sql, 'end'),
  decide({ input, now }, state: IntentBatch, { emit, refuse, wake }) {
    const intent = state.intents.get(input.params.id)
    if (!intent) return refuse('intent_not_found')
    if (intent.paymentId || intent.expiresAt > now || !intentMachine.move(intent, 'expired'))
      return { expired: false }
    intent.updatedAt = now
    release(intent, state)
    emit('intent.expired', intentEvent(intent))
    if (intent.workflowId) wake(intentProcess, intent)
    return { expired: true }
  },
  write: writeBatch,
}

export const alreadyMessage = (status: string): string => `The intent is ${status} already.`
