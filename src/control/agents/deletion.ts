import { LockMode } from '@mikro-orm/core'
import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { ReadContext, SqlContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import { lockBook } from '../../money/ledger/index.ts'
import { closeWallet, findMainWallet, openWallet } from '../../money/wallets/index.ts'
import { requireFirst } from '../../values/collections.ts'
import { Agent, agentEvent, agentMachine } from './agent.ts'
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

const lock = (id: string, { em }: WriteContext): Promise<Agent | null> =>
  em.findOne(Agent, { id }, { lockMode: LockMode.PESSIMISTIC_WRITE })

/** What the run of an agent that is being deleted reads; undefined if the agent is not. */
export async function agentDeletionStatus(id: string, context: ReadContext) {
  const agent = await context.em.findOne(Agent, { id })
  if (agent?.status !== 'deleting') return undefined
  return {
    status: agent.status,
    summary: `Agent in ${agent.mode} mode: it is being deleted`,
    closed: false,
    left: await leftOf(agent, context),
    dueInMs: 0,
    deadline: null,
    signals: [],
  }
}

/** Moves the agent’s money to one of its owner’s wallets, once nothing of the agent can spend it. */
export async function returnAgentMoney(
  id: string,
  context: WriteContext<(typeof agentSteps.returnMoney)['emits']>,
): Promise<void> {
  const { sql, emit, queueStatement } = context
  const [agent, open] = await Promise.all([lock(id, context), findMainWallet(context)])
  if (agent?.status !== 'deleting') return
  const { walletId } = agent
  const left = await leftOf(agent, context)
  if (left.card || left.intent || left.run || !left.wallet) return
  const main = open ?? (await openWallet({ name: 'Main' }, context))
  const book = await lockBook(sql, context, { wallets: [walletId, main.id] })
  if (book.balance(walletId).held > 0n) return
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
  const agent = await lock(id, context)
  if (agent?.status !== 'deleting') return
  const { card, intent, run, wallet } = await leftOf(agent, context)
  if (card || intent || run || wallet) return
  agentMachine.move(agent, 'deleted')
  emit('agent.deleted', agentEvent(agent))
  wake(agentProcess, { id, agentId: id })
}
