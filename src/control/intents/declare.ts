import { after, minutes } from '../../kernel/clock.ts'
import type { Sql } from '../../kernel/database.ts'
import { newId } from '../../kernel/ids.ts'
import type { HandlerOf } from '../../kernel/operation.ts'
import { workflowIdOf } from '../../kernel/process.ts'
import { type Payable, payableOf } from '../../money/beneficiaries/beneficiaries.ts'
import { type Book, openBook } from '../../money/ledger/ledger.ts'
import { type Known, walletsOf } from '../../money/wallets/wallets.ts'
import {
  type DecisionRow,
  decideFor,
  lockSpenders,
  openTally,
  type Spender,
  type Tally,
} from '../policies/policies.ts'
import { openWatch, type Watch } from '../risk/risk.ts'
import { alikeOf } from './alike.ts'
import type { intentsApi } from './api.ts'
import { aboutIntent } from './events.ts'
import { heldFor, intentMachine, likenessOf } from './intent.ts'
import { type IntentRow, insertIntents } from './intent-rows.ts'
import { type Levels, openLevels, type Under } from './levels.ts'
import { intentProcess } from './process.ts'

type Create = HandlerOf<typeof intentsApi.create>
type Asked = Parameters<Create['decide']>[0]

/** What deciding needs to know, and what has been decided so far. */
interface Desk {
  readonly agents: ReadonlyMap<string, Spender>
  readonly levels: Levels
  readonly tally: Tally
  readonly book: Book
  readonly watch: Watch
  readonly wallets: ReadonlyMap<string, Known>
  readonly beneficiaries: ReadonlyMap<string, Payable>
  readonly taken: Set<string>
  /** The latest intent of each likeness. */
  readonly alike: Map<string, string>
  readonly declared: IntentRow[]
  readonly decisions: DecisionRow[]
}

const TAKEN = `
select agent_id, client_intent_id from intents
where owner_id = $1 and mode = $2 and agent_id = any($3::text[]) and client_intent_id = any($4::text[])`

/** In which run, by the header or the body, and with which token. */
const underOf = ({ input, runId, actor: { delegationId = null, budgetId = null } }: Asked): Under => ({
  runId: input.body.runId ?? runId,
  delegationId,
  tokenId: budgetId,
})

/** Two intents are alike only in the same run. */
const likenessIn = (item: Asked) => likenessOf({ ...item.input.body, ...underOf(item) })

/** Agents, counters, accounts; then what is only looked at, and that only where somebody names it. */
async function load(items: readonly Asked[], sql: Sql): Promise<Desk> {
  const { tenant, now } = items[0] as Asked
  const bodies = items.map(({ input }) => input.body)
  const agents = await lockSpenders(
    sql,
    tenant,
    bodies.map(({ agentId }) => agentId),
  )
  const agentIds = [...agents.keys()]
  const levels = await openLevels(sql, tenant, items.map(underOf))
  const tally = await openTally(sql, { tenant, now }, { spending: [...agentIds, ...levels.subjects] })
  const wallets = [...agents.values()].map(({ walletId }) => walletId)
  const book = await openBook(sql, { tenant, now }, { wallets })
  const known = bodies.filter(({ agentId }) => agents.has(agentId))
  const watch = await openWatch(sql, { tenant, now }, known)
  const alike = items.flatMap(item => {
    const { agentId } = item.input.body
    const likeness = agents.has(agentId) && likenessIn(item)
    return likeness ? { agentId, likeness } : []
  })
  const named = <T>(of: (body: Asked['input']['body']) => T | null): T[] =>
    bodies.flatMap(body => of(body) ?? [])
  const [payees, payable, names] = [
    named(({ walletId }) => walletId),
    named(({ beneficiaryId }) => beneficiaryId),
    named(({ clientIntentId }) => clientIntentId),
  ]
  return {
    ...{ agents, levels, tally, book, watch, declared: [], decisions: [] },
    alike: await alikeOf(sql, alike, now),
    wallets: payees.length > 0 ? await walletsOf(sql, tenant, payees) : new Map(),
    beneficiaries: payable.length > 0 ? await payableOf(sql, tenant, payable) : new Map(),
    taken: new Set(
      names.length > 0 ? await takenOf(sql, [tenant.ownerId, tenant.mode, agentIds, names]) : [],
    ),
  }
}

async function takenOf(sql: Sql, values: readonly unknown[]): Promise<string[]> {
  const rows = await sql<{ agent_id: string; client_intent_id: string }>(TAKEN, values)
  return rows.map(row => takenName(row.agent_id, row.client_intent_id))
}

const takenName = (agentId: string, clientIntentId: string): string => `${agentId} ${clientIntentId}`

/** An agent's token declares for its own agent only. */
const agentFor = ({ input, actor }: Asked, { agents }: Desk): Spender | undefined => {
  const { agentId } = input.body
  return actor.agentId === null || actor.agentId === agentId ? agents.get(agentId) : undefined
}

/** The first thing that it names and that is not there, or is over. */
function missing(item: Asked, agentId: string, { wallets, beneficiaries, levels }: Desk) {
  const { body } = item.input

  if (body.walletId && !wallets.has(body.walletId)) return 'wallet_not_found'
  if (body.beneficiaryId && !beneficiaries.has(body.beneficiaryId)) return 'beneficiary_not_found'
  if (body.cardId) return 'card_not_found'
  if (body.runId && item.runId && body.runId !== item.runId) return 'run_mismatch'
  const under = underOf(item)
  return levels.hasRun(under, agentId) ? levels.obstacleTo(under, item.now) : 'run_not_found'
}

/** The intent as it begins: decided, and kept for where the answer is yes. */
function intentFrom(item: Asked, agent: Spender, desk: Desk): IntentRow {
  const { tenant, now, input } = item
  const { expiresInMinutes, ...members } = input.body
  const { amountEuros, merchant, mcc, country } = members
  const spend = { amountEuros, merchant, mcc, country }
  const cause = heldFor({ id: newId('intent') })
  const likeness = likenessIn(item)
  const possibleDuplicateOf = (likeness && desk.alike.get(likeness)) || null
  const availableEuros = desk.book.available(agent.walletId)
  const walletFrozen = desk.book.isFrozen(agent.walletId)
  const under = underOf(item)
  const budgets = desk.levels.budgetsOf(under, desk.tally)
  const risk = desk.watch.riskOf(agent.id, spend)
  const nothing = { approval: null, intentId: null }
  const { ruling, decision, row } = decideFor(
    agent,
    {
      ...{ ...spend, kind: 'intent', possibleDuplicateOf, walletFrozen, availableEuros },
      ...{ budgets, risk, ...nothing },
    },
    desk.tally.countersOf(agent.id, agent.term),
    item,
    cause,
  )
  desk.decisions.push(row)
  const waits = ruling.requiresApproval
  if (ruling.allowed && !waits) {
    desk.tally.reserve(cause, [agent.id, ...desk.levels.subjectsOf(under)], ruling.holdEuros, agent.term)
    desk.book.hold(agent.walletId, ruling.holdEuros, cause)
    desk.watch.learn(agent.id, spend, now)
  }
  return {
    ...{ ...members, ...under, ...tenant, id: cause.id, createdAt: now, updatedAt: now, currency: 'EUR' },
    status: waits ? intentMachine.initial : ruling.allowed ? 'approved' : 'denied',
    expiresAt: desk.levels.endOf(under, after(now, minutes(expiresInMinutes))),
    decidedAt: waits ? null : now,
    decidedBy: waits ? null : { type: 'policy', id: agent.policyId, name: null },
    ...{ comment: null, decision, possibleDuplicateOf, likeness, transactionId: null, paymentId: null },
    workflowId: waits ? workflowIdOf(intentProcess, cause.id) : null,
  }
}

/** Declaring is hot: a busy agent makes thousands a second. Only who waits for a person gets a process. */
export const declare: Create = {
  load,
  decide(item, desk: Desk, { emit, refuse, wake }) {
    const agent = agentFor(item, desk)
    if (!agent || agent.status === 'deleted') return refuse('agent_not_found')
    if (agent.status !== 'active') return refuse('agent_not_active')
    const nowhere = missing(item, agent.id, desk)
    if (nowhere) return refuse(nowhere)
    const { clientIntentId } = item.input.body
    const name = clientIntentId && takenName(agent.id, clientIntentId)
    if (name && desk.taken.has(name)) return refuse('client_intent_id_taken')
    if (name) desk.taken.add(name)
    const intent = intentFrom(item, agent, desk)
    desk.declared.push(intent)
    emit('intent.created', { ...aboutIntent(intent), status: 'created' })
    if (intent.status === 'created') wake(intentProcess, intent)
    if (intent.status === 'denied') emit('intent.denied', aboutIntent(intent, intent.decision.reason))
    else if (intent.likeness) desk.alike.set(intent.likeness, intent.id)
    if (intent.status === 'approved') emit('intent.approved', aboutIntent(intent))
    for (const [event, data] of desk.watch.follow(agent, { ...intent, type: 'intent' })) emit(event, data)
    return intent
  },
  async write({ declared, decisions, tally, book, watch }: Desk, sql) {
    await insertIntents(sql, declared, decisions)
    await tally.write(sql)
    await watch.write(sql)
    await book.post(sql)
  },
}
