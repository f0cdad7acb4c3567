import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { ReadContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { lockBook } from '../../money/ledger/index.ts'
import { closeWallet, findMainWallet, openWallet } from '../../money/wallets/index.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { requireFirst } from '../../values/collections.ts'
import { Agent, agentEvent, agentMachine, lockAnyAgent } from './agent.ts'
import type { agentSteps } from './api.ts'
import { agentProcess } from './process.ts'

/** Ids of what an agent that is being deleted still has: the first of each kind, which the next step ends. */
interface Left extends Row {
  readonly card: string | null
  readonly intent: string | null
  readonly run: string | null
  readonly wallet: string | null
}

const firstIntent = (status: string): string => `(
    select id from intents where owner_id = $1 and mode = $2 and agent_id = $3 and status = '${status}'
    order by id limit 1)`

/** Each status of intents has an index of its own. */
const LEFT = `
select
  (select id from cards where owner_id = $1 and mode = $2 and agent_id = $3
     and (status <> 'closed' or purse_due_at <= $5) order by id limit 1) as card,
  coalesce(${firstIntent('created')}, ${firstIntent('approved')}) as intent,
  (select id from runs where owner_id = $1 and mode = $2 and agent_id = $3 and status = 'running'
     order by id limit 1) as run,
  (select id from wallets where owner_id = $1 and mode = $2 and id = $4 and status <> 'closed') as wallet`

async function leftOf({ id, walletId }: Agent, { sql, tenant, now }: SqlContext & TenantNow): Promise<Left> {
  return requireFirst(await sql<Left>(LEFT, [tenant.ownerId, tenant.mode, id, walletId, now]))
}

/** Whether all that has to end before this has ended. */
export async function isNextToEnd(
  kind: 'intent' | 'run' | 'wallet' | 'agent',
  agent: Agent,
  context: SqlContext & TenantNow,
): Promise<boolean> {
  const left = await leftOf(agent, context)
  const next = (['card', 'intent', 'run', 'wallet'] as const).find(each => left[each] !== null) ?? 'agent'
  return next === kind
}

/** Money that is held until a payment ends, which takes days. The test clock stops each time. */
const RETRY_HELD_MS = minutes(6 * 60)

/** What the run of an agent that is being deleted reads; undefined if the agent is not. */
export async function agentDeletionStatus(id: string, context: ReadContext) {
  const agent = await context.em.findOne(Agent, { id })
  if (agent?.status !== 'deleting') return undefined
  return {
    status: agent.status,
    summary: `Agent in ${agent.mode} mode: it is being deleted`,
    closed: false,
    left: await leftOf(agent, context),
    dueInMs: agent.deletionDueAt && agent.deletionDueAt.getTime() - context.now.getTime(),
    deadline: null,
    signals: [],
  }
}

/** Moves the agent’s money to one of its owner’s wallets, once nothing of the agent can spend it. */
export async function returnAgentMoney(
  id: string,
  context: WriteContext<(typeof agentSteps.returnMoney)['emits']>,
): Promise<void> {
  const { sql, now, emit, queueStatement } = context
  const [agent, open] = await Promise.all([lockAnyAgent(context.em, id), findMainWallet(context)])
  if (agent?.status !== 'deleting') return
  if (!(await isNextToEnd('wallet', agent, context))) return
  const { walletId } = agent
  const main = open ?? (await openWallet({ name: 'Main' }, context))
  const book = await lockBook(sql, context, { wallets: [walletId, main.id] })
  if (book.balance(walletId).held > 0n) {
    agent.deletionDueAt = addMs(now, RETRY_HELD_MS)
    return
  }
  const amountCents = book.available(walletId)
  if (amountCents > 0n) {
    book.move('sweep', walletId, main.id, amountCents, { type: 'agent', id: agent.id })
    queueStatement(book.post(sql))
    const balanceCents = book.balance(main.id).posted
    emit('wallet.credited', { walletId: main.id, status: main.status, amountCents, balanceCents })
  }
  await closeWallet(walletId, context)
}

export async function finishAgentDeletion(
  id: string,
  context: WriteContext<(typeof agentSteps.finishDeletion)['emits']>,
): Promise<void> {
  const { emit, wake } = context
  const agent = await lockAnyAgent(context.em, id)
  if (agent?.status !== 'deleting') return
  if (!(await isNextToEnd('agent', agent, context))) return
  agentMachine.move(agent, 'deleted')
  emit('agent.deleted', agentEvent(agent))
  wake(agentProcess, { id, agentId: id })
}
