import type { ReadContext } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { question } from '../../kernel/contract/question.ts'
import { lockBook, readWalletBalances, shortfallMessage } from '../../money/ledger/index.ts'
import { findOnlyOpenWallet, isPurse, walletsById } from '../../money/wallets/index.ts'
import { newId } from '../../values/ids.ts'
import { NO_CENTS, subtractCents } from '../../values/money.ts'
import { Agent, agentEvent, lockAgent } from './agent.ts'
import type { agentsApi } from './api.ts'

export const newAgentWallet = ({ id, walletId, name }: Agent) =>
  ({ id: walletId, kind: 'agent', agentId: id, name }) as const

export const fundAgent: HandlerOf<typeof agentsApi.fund> = async ({ params, body }, context) => {
  const { em, sql, tenant, emit, refuse, queueStatement } = context
  const { amountCents } = body
  const [agent, only] = await Promise.all([
    lockAgent(em, params.id),
    body.fromWalletId ? undefined : findOnlyOpenWallet(context),
  ])
  if (!agent) return refuse('agent_not_found')
  if (only === 'several') return refuse('wallet_needed')
  const { walletId } = agent
  const from = body.fromWalletId ?? only?.id
  if (!from) return refuse('no_wallet')
  if (from === walletId) return refuse('same_wallet')
  const [book, wallets] = await Promise.all([
    lockBook(sql, context, { wallets: [from, walletId] }),
    walletsById(sql, tenant, [from]),
  ])
  const payingWallet = wallets.get(from)
  if (!payingWallet) return refuse('wallet_not_found')
  if (isPurse(payingWallet)) return refuse('wallet_of_card')
  if (payingWallet.status !== 'active') return refuse('wallet_not_active')
  if (!book.canPay(from, amountCents))
    return refuse('insufficient_funds', shortfallMessage(amountCents, book.available(from)))
  book.move('agent_fund', from, walletId, amountCents, { type: 'agent', id: newId('funding') })
  queueStatement(book.post(sql))
  const { posted, held } = book.balance(walletId)
  emit('agent.funded', {
    ...agentEvent(agent),
    walletId,
    fromWalletId: from,
    amountCents,
    balanceCents: posted,
  })
  return { agentId: agent.id, walletId, availableCents: subtractCents(posted, held), heldCents: held }
}

export const getAgentBalance: HandlerOf<typeof agentsApi.balance> = async (
  { params },
  { em, sql, tenant, refuse },
) => {
  const agent = await em.findOne(Agent, { id: params.id })
  if (!agent) return refuse('agent_not_found')
  const { walletId } = agent
  const balance = (await readWalletBalances(sql, tenant, [walletId])).get(walletId)
  return {
    agentId: agent.id,
    walletId,
    availableCents: balance?.availableCents ?? NO_CENTS,
    heldCents: balance?.heldCents ?? NO_CENTS,
  }
}

/** The open purses of an agent's cards. Asked after the lock of the agent is sent, so that all of them are found. */
export const purses = question<string, readonly string[]>('agents.purses')

/** Held money may still be paid out, so these wallets cannot be emptied yet. */
export async function holdsMoney(wallets: readonly string[], context: ReadContext): Promise<boolean> {
  const book = await lockBook(context.sql, context, { wallets })
  return wallets.some(id => book.balance(id).held > 0n)
}
