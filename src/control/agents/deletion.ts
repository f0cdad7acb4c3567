import type { TenantNow } from '../../kernel/contract/actor.ts'
import type { WriteContext } from '../../kernel/contract/context.ts'
import { lockBook } from '../../money/ledger/index.ts'
import { closeWallet, findMainWallet, openWallet } from '../../money/wallets/index.ts'
import { addMs, minutes } from '../../values/clock.ts'
import { type Agent, agentEvent, agentMachine, lockAnyAgent } from './agent.ts'
import type { agentSteps } from './api.ts'
import { agentProcess } from './process.ts'

/** Money that is held until a payment ends, which takes days. The test clock stops each time. */
const RETRY_HELD_MS = minutes(6 * 60)

/** The agent if it is being deleted, locked: of two that delete it, the later one sees what the earlier one has ended. */
export async function lockDeletingAgent(id: string, { em }: WriteContext): Promise<Agent | undefined> {
  const agent = await lockAnyAgent(em, id)
  return agent?.status === 'deleting' ? agent : undefined
}

/** What the run of an agent that is being deleted reads, beside what the agent still has. */
export const agentDeletionStatus = ({ status, mode, deletionDueAt }: Agent, { now }: TenantNow) => ({
  status,
  summary: `Agent in ${mode} mode: it is being deleted`,
  closed: false,
  dueInMs: deletionDueAt && deletionDueAt.getTime() - now.getTime(),
  deadline: null,
  signals: [],
})

/** Moves the agent’s money to one of its owner’s wallets, once nothing of the agent can spend it. */
export async function returnAgentMoney(
  agent: Agent,
  context: WriteContext<(typeof agentSteps.returnMoney)['emits']>,
): Promise<void> {
  const { sql, now, emit, queueStatement } = context
  const { walletId } = agent
  const main = (await findMainWallet(context)) ?? (await openWallet({ name: 'Main' }, context))
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

export function finishAgentDeletion(
  agent: Agent,
  { emit, wake }: WriteContext<(typeof agentSteps.finishDeletion)['emits']>,
): void {
  agentMachine.move(agent, 'deleted')
  emit('agent.deleted', agentEvent(agent))
  wake(agentProcess, { id: agent.id, agentId: agent.id })
}
