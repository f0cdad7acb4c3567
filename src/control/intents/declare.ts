import type { Item } from '../../kernel/batch.ts'
import { after, minutes } from '../../kernel/clock.ts'
import type { Row, Sql } from '../../kernel/database.ts'
import { newId } from '../../kernel/ids.ts'
import type { Euros } from '../../kernel/money.ts'
import type { HandlerOf } from '../../kernel/operation.ts'
import { workflowIdOf } from '../../kernel/process.ts'
import { type Book, openBook } from '../../money/ledger/ledger.ts'
import type { intentsApi } from './api.ts'
import { aboutIntent } from './events.ts'
import { decide, heldFor, holdFor, intentMachine, type Ruling } from './intent.ts'
import { type IntentRow, insertIntents } from './intent-rows.ts'
import { intentProcess } from './process.ts'

type Create = HandlerOf<typeof intentsApi.create>
type Asked = Parameters<Create['decide']>[0]

interface AgentRow extends Row, Ruling {
  id: string
  status: string
  walletId: string
}

/** What deciding needs to know, and what has been decided so far. */
interface Desk {
  readonly agents: ReadonlyMap<string, AgentRow>
  readonly book: Book
  readonly taken: Set<string>
  readonly declared: IntentRow[]
}

const AGENTS = `
select a.id, a.status, a.wallet_id as "walletId", p.id as "policyId", p.version as "policyVersion",
  p.auto_approve_limit_cents as "autoApproveLimitEuros", coalesce(p.require_attestation, false) as "requireAttestation",
  p.amount_tolerance_percent as "amountTolerancePercent"
from agents a
left join policies p on p.id = a.policy_id and p.deleted_at is null
where a.owner_id = $1 and a.mode = $2 and a.id = any($3::text[])
order by a.id for share of a`

const TAKEN = `
select agent_id, client_intent_id from intents
where owner_id = $1 and mode = $2 and agent_id = any($3::text[]) and client_intent_id = any($4::text[])`

async function load(items: readonly Asked[], sql: Sql): Promise<Desk> {
  const { tenant, now } = items[0] as Asked
  const { ownerId, mode } = tenant
  const agentIds = [...new Set(items.map(({ input }) => input.body.agentId))]
  const agents = await sql<AgentRow>(AGENTS, [ownerId, mode, agentIds])
  const book = await openBook(sql, { tenant, now }, { wallets: agents.map(({ walletId }) => walletId) })
  const names = items.flatMap(({ input }) => input.body.clientIntentId ?? [])
  const taken =
    names.length === 0
      ? []
      : await sql<{ agent_id: string; client_intent_id: string }>(TAKEN, [ownerId, mode, agentIds, names])
  return {
    agents: new Map(agents.map(agent => [agent.id, agent])),
    book,
    taken: new Set(taken.map(row => nameOf(row.agent_id, row.client_intent_id))),
    declared: [],
  }
}

const nameOf = (agentId: string, clientIntentId: string): string => `${agentId} ${clientIntentId}`

/** An agent's token declares for its own agent only. */
const agentFor = ({ input, actor }: Asked, { agents }: Desk): AgentRow | undefined => {
  const { agentId } = input.body
  return actor.agentId === null || actor.agentId === agentId ? agents.get(agentId) : undefined
}

function intentFrom(
  { input: { body }, tenant, now }: Item<Asked['input']>,
  ruling: Ruling,
  available: Euros,
): IntentRow {
  const { expiresInMinutes, ...members } = body
  const id = newId('intent')
  const decision = decide(ruling, body.amountEuros, available)
  const waits = decision.requiresApproval
  return {
    ...members,
    ...tenant,
    id,
    createdAt: now,
    updatedAt: now,
    status: waits ? intentMachine.initial : decision.allowed ? 'approved' : 'denied',
    currency: 'EUR',
    expiresAt: after(now, minutes(expiresInMinutes)),
    decidedAt: waits ? null : now,
    decidedBy: waits ? null : { type: 'policy', id: decision.policyId, name: null },
    comment: null,
    decision,
    beneficiaryId: null,
    walletId: null,
    cardId: null,
    runId: null,
    delegationId: null,
    possibleDuplicateOf: null,
    transactionId: null,
    workflowId: waits ? workflowIdOf(intentProcess, id) : null,
  }
}

/** Declaring is hot: a busy agent makes thousands a second. Only who waits for a person gets a process. */
export const declare: Create = {
  load,
  decide(item, desk: Desk, { emit, refuse, wake }) {
    const agent = agentFor(item, desk)
    if (!agent || agent.status === 'deleted') return refuse('agent_not_found')
    if (agent.status !== 'active') return refuse('agent_not_active')
    const { clientIntentId } = item.input.body
    const name = clientIntentId && nameOf(agent.id, clientIntentId)
    if (name && desk.taken.has(name)) return refuse('client_intent_id_taken')
    if (name) desk.taken.add(name)
    const intent = intentFrom(item, agent, desk.book.available(agent.walletId))
    desk.declared.push(intent)
    emit('intent.created', { ...aboutIntent(intent), status: 'created' })
    if (intent.status === 'created') wake(intentProcess, intent)
    if (intent.status === 'denied') emit('intent.denied', aboutIntent(intent, intent.decision.reason))
    if (intent.status !== 'approved') return intent
    desk.book.hold(agent.walletId, holdFor(intent.amountEuros, agent.amountTolerancePercent), heldFor(intent))
    emit('intent.approved', aboutIntent(intent))
    return intent
  },
  async write({ declared, book }: Desk, sql) {
    await insertIntents(sql, declared)
    await book.post(sql)
  },
}
