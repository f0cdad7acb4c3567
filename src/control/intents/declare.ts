import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import type { Book } from '../../money/ledger/index.ts'
import { after, minutes } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import type { DecisionRow } from '../decisions/index.ts'
import type { Spender } from '../policies/index.ts'
import type { intentsApi } from './api.ts'
import { intentEvent } from './events.ts'
import { heldFor, intentMachine, likenessOf } from './intent.ts'
import { type IntentRow, insertIntents } from './intent-rows.ts'
import { openPayees, type Payees, travelled } from './payees.ts'
import { intentProcess } from './process.ts'
import { unpaid } from './response.ts'
import { type Ask, askerOf, decideOn, holdScene, obstacleTo, type Scene, underOf } from './spend-context.ts'

type Create = HandlerOf<typeof intentsApi.create>
type Asked = Parameters<Create['decide']>[0]

/** What deciding needs to know, and what has been decided so far. */
interface Desk extends Scene<Book> {
  readonly payees: Payees
  readonly taken: Set<string>
  readonly declared: IntentRow[]
  readonly decisions: DecisionRow[]
}

const TAKEN = `
select agent_id, client_intent_id from intents
where owner_id = $1 and mode = $2 and agent_id = any($3::text[]) and client_intent_id = any($4::text[])`

const askOf = ({ input: { body }, actor, runId }: Asked, payees: Payees): Ask => {
  const { agentId = actor.agentId ?? '', amountEuros, mcc } = body
  return { agentId, amountEuros, mcc, ...payees.of(body), ...underOf(actor, runId, body.runId) }
}

/** Who is paid, for that is asked of every rule; then what decides; then what is only looked at. */
async function load(items: readonly Asked[], sql: Sql): Promise<Desk> {
  const { tenant, now } = items[0] as Asked
  const bodies = items.map(({ input }) => input.body)
  const payees = await openPayees(sql, tenant, bodies)
  const asks = items.map(item => askOf(item, payees))
  const scene = await holdScene(sql, { tenant, now }, asks)
  const agentIds = [...scene.agents.keys()]
  const names = bodies.flatMap(({ clientIntentId }) => clientIntentId ?? [])
  return {
    ...{ ...scene, payees, declared: [], decisions: [] },
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

/** The first thing that it names and that is not there, or is over. */
function missing(item: Asked, ask: Ask, desk: Desk) {
  const { body } = item.input
  const nobody = desk.payees.missing(body)
  if (nobody) return nobody
  if (body.cardId) return 'card_not_found'
  return obstacleTo(ask, desk, item.now, item.runId)
}

/** The intent as it begins: decided, and kept for where the answer is yes. */
function intentFrom(item: Asked, ask: Ask, agent: Spender, desk: Desk): IntentRow {
  const { tenant, now, input } = item
  const { expiresInMinutes, ...members } = input.body
  const cause = heldFor({ id: newId('intent') })
  const { ruling, decision, row, possibleDuplicateOf } = decideOn(ask, agent, desk, item, cause)
  const { agentId, merchant, payeeIban, country, runId, delegationId, tokenId } = ask
  desk.decisions.push(row)
  const waits = ruling.requiresApproval
  if (ruling.allowed && !waits) {
    desk.tally.reserve(cause, [agent.id, ...desk.levels.subjectsOf(ask)], ruling.holdEuros, agent.term)
    desk.funds.hold(agent.walletId, ruling.holdEuros, cause)
    desk.riskAssessor.learn(agent.id, travelled(ask), now)
  }
  return {
    ...{ ...members, agentId, merchant, payeeIban, country },
    ...{ runId, delegationId, tokenId, ...tenant, id: cause.id, createdAt: now, updatedAt: now },
    status: waits ? intentMachine.initial : ruling.allowed ? 'approved' : 'denied',
    expiresAt: desk.levels.endOf(ask, after(now, minutes(expiresInMinutes))),
    decidedAt: waits ? null : now,
    decidedBy: waits ? null : { type: 'policy', id: agent.policyId, name: null },
    ...{ currency: 'EUR', comment: null, decision, possibleDuplicateOf, likeness: likenessOf(ask) },
    ...{ transactionId: null, paymentId: null },
    workflowId: waits ? workflowIdOf(intentProcess, cause.id) : null,
  }
}

/** Declaring is hot: a busy agent makes thousands a second. Only who waits for a person gets a process. */
export const declare: Create = {
  load,
  decide(item, desk: Desk, { emit, refuse, wake }) {
    const ask = askOf(item, desk.payees)
    if (!ask.agentId) return refuse('agent_required')
    const agent = askerOf(item.actor, ask.agentId, desk)
    if (!agent) return refuse('agent_not_found')
    if (agent.status !== 'active') return refuse('agent_not_active')
    const nowhere = missing(item, ask, desk)
    if (nowhere) return refuse(nowhere)
    const contradiction = desk.payees.contradiction(item.input.body)
    if (contradiction) return refuse('payee_mismatch', contradiction)
    const { clientIntentId } = item.input.body
    const name = clientIntentId && takenName(agent.id, clientIntentId)
    if (name && desk.taken.has(name)) return refuse('client_intent_id_taken')
    if (name) desk.taken.add(name)
    const intent = intentFrom(item, ask, agent, desk)
    desk.declared.push(intent)
    emit('intent.created', { ...intentEvent(intent), status: 'created' })
    if (intent.status === 'created') wake(intentProcess, intent)
    if (intent.status === 'denied') emit('intent.denied', intentEvent(intent, intent.decision.reason))
    else if (intent.likeness) desk.alike.set(intent.likeness, intent.id)
    if (intent.status === 'approved') emit('intent.approved', intentEvent(intent))
    for (const [event, data] of desk.riskAssessor.applyOutcome(agent, { ...intent, type: 'intent' }))
      emit(event, data)
    return unpaid(intent)
  },
  async write({ declared, decisions, tally, funds, riskAssessor }: Desk, sql) {
    await insertIntents(sql, declared, decisions)
    await tally.write(sql)
    await riskAssessor.write(sql)
    await funds.post(sql)
  },
}
