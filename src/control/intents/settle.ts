import type { HandlerOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type Book, openBook } from '../../money/ledger/index.ts'
import { openTally, type Tally } from '../budgets/index.ts'
import { type DecisionRow, insertDecisions } from '../decisions/index.ts'
import { decideSpend, lockSpendersOfIntents, type SpendDecision, type Spender } from '../policies/index.ts'
import { openRiskAssessor, type RiskAssessor } from '../risk/index.ts'
import type { intentsApi } from './api.ts'
import { noPasskeys } from './attestation.ts'
import { type Levels, openLevels, openLevelsOf } from './budget-levels.ts'
import { intentEvent } from './events.ts'
import { type DecidedBy, heldFor, intentMachine } from './intent.ts'
import { type IntentRow, lockIntents, updateIntents } from './intent-rows.ts'
import { travelled } from './payees.ts'
import { intentProcess } from './process.ts'
import { unpaid } from './response.ts'

type Approve = HandlerOf<typeof intentsApi.approve>
type Expire = HandlerOf<typeof intentsApi.expire>
type Asked = Parameters<Approve['decide']>[0] | Parameters<Expire['decide']>[0]

interface Desk {
  readonly agents: ReadonlyMap<string, Spender>
  readonly intents: ReadonlyMap<string, IntentRow>
  readonly levels: Levels
  readonly tally: Tally
  readonly book: Book
  readonly riskAssessor: RiskAssessor
  readonly changed: Set<IntentRow>
  readonly decisions: DecisionRow[]
}

/** Agents, their counters and accounts, and these before the records, as everywhere. */
const loading =
  (ends: boolean) =>
  async (items: readonly Asked[], sql: Sql): Promise<Desk> => {
    const { tenant, now } = items[0] as Asked
    const ids = [...new Set(items.map(({ input }) => input.params.id))]
    const causes = ends ? ids.map(id => heldFor({ id })) : []
    const agents = await lockSpendersOfIntents(sql, tenant, ids)
    const levels = ends ? await openLevels(sql, tenant, []) : await openLevelsOf(sql, tenant, ids)
    const spending = [...agents.keys(), ...levels.subjects]
    const wanted = ends ? { causes, agents: [...agents.keys()] } : { spending }
    const tally = await openTally(sql, { tenant, now }, wanted)
    const wallets = [...agents.values()].map(({ walletId }) => walletId)
    const book = await openBook(sql, { tenant, now }, { wallets, holds: causes })
    const intents = await lockIntents(sql, tenant, ids)
    const riskAssessor = await openRiskAssessor(sql, { tenant, now }, ends ? [] : [...intents.values()])
    return { agents, intents, levels, tally, book, riskAssessor, changed: new Set(), decisions: [] }
  }

async function write({ tally, book, riskAssessor, changed, decisions }: Desk, sql: Sql): Promise<void> {
  await updateIntents(sql, [...changed])
  await insertDecisions(sql, decisions)
  await tally.write(sql)
  await riskAssessor.write(sql)
  await book.post(sql)
}

/** The policy as it is now, the limits as they stand now, and a person who says yes. */
function decideAgain(
  item: Asked,
  intent: IntentRow,
  agent: Spender,
  { levels, tally, book }: Desk,
): SpendDecision {
  const { amountEuros, merchant, payeeIban, mcc, country, possibleDuplicateOf } = intent
  return decideSpend(
    agent,
    {
      ...{
        kind: 'intent',
        amountEuros,
        merchant,
        payeeIban,
        mcc,
        country,
        possibleDuplicateOf,
        intentId: null,
      },
      // What a person says yes to is the risk that was seen when it was declared.
      ...{ budgets: levels.budgetsOf(intent, tally), risk: intent.decision.risk ?? null },
      approval: { attestedAt: noPasskeys.attestedAt(intent) },
      walletFrozen: book.isFrozen(agent.walletId),
      availableEuros: book.available(agent.walletId),
    },
    tally.countersOf(agent.id, agent.term),
    item,
    heldFor(intent),
  )
}

/** How a refusal is called by the rule that fails. */
const refusals = {
  agentStatus: 'agent_not_active',
  walletStatus: 'wallet_frozen',
  insufficient_funds: 'insufficient_funds',
  requireAttestation: 'attestation_required',
} as const

function refusalFor({ ruling: { checks } }: SpendDecision) {
  const rule = checks.find(({ outcome }) => outcome === 'fail')?.rule
  return refusals[rule as keyof typeof refusals] ?? 'against_policy'
}

/** A person approves, by the API or by a signal to the run: the first one counts. */
export const approve: Approve = {
  load: loading(false),
  decide(item, desk: Desk, { emit, refuse, wake }) {
    const { input, actor, now } = item
    const intent = desk.intents.get(input.params.id)
    const agent = intent && desk.agents.get(intent.agentId)
    if (!intent || !agent) return refuse('intent_not_found')
    if (intent.status !== 'created') return refuse('intent_not_waiting', alreadyIn(intent.status))
    if (intent.expiresAt <= now) return refuse('intent_expired')
    const closed = desk.levels.obstacleTo(intent, now)
    if (closed) return refuse(closed)
    const decided = decideAgain(item, intent, agent, desk)
    const { ruling, decision, row } = decided
    desk.decisions.push(row)
    if (!ruling.allowed) return refuse(refusalFor(decided), ruling.reason)
    intentMachine.move(intent, 'approved')
    const subjects = [agent.id, ...desk.levels.subjectsOf(intent)]
    desk.tally.reserve(heldFor(intent), subjects, ruling.holdEuros, agent.term)
    desk.book.hold(agent.walletId, ruling.holdEuros, heldFor(intent))
    desk.riskAssessor.learn(agent.id, travelled(intent), intent.createdAt)
    const { comment } = input.body
    Object.assign(intent, { decidedAt: now, updatedAt: now, decidedBy: deciderOf(actor), comment, decision })
    desk.changed.add(intent)
    emit('intent.approved', intentEvent(intent, comment ?? undefined))
    wake(intentProcess, intent)
    return unpaid(intent)
  },
  write,
}

/** Only past the deadline, by the tenant's clock; who comes second finds nothing to do. */
export const expire: Expire = {
  load: loading(true),
  decide({ input, now }, { intents, tally, book, changed }: Desk, { emit, refuse, wake }) {
    const intent = intents.get(input.params.id)
    if (!intent) return refuse('intent_not_found')
    if (intent.paymentId || intent.expiresAt > now || !intentMachine.move(intent, 'expired'))
      return { expired: false }
    intent.updatedAt = now
    changed.add(intent)
    tally.giveBack(heldFor(intent))
    book.release(heldFor(intent))
    emit('intent.expired', intentEvent(intent))
    if (intent.workflowId) wake(intentProcess, intent)
    return { expired: true }
  },
  write,
}

export const alreadyIn = (status: string): string => `The intent is ${status} already.`

interface Decider {
  readonly type: string
  readonly id: string | null
}

/** An operator has no id of ours: only the name that was given with the signal, proved by nothing. */
export const deciderOf = ({ type, id }: Decider): DecidedBy =>
  type === 'operator' ? { type, id: null, name: id } : { type: 'key', id, name: null }
