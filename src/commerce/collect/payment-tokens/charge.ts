import type { z } from 'zod'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { walletsById } from '../../../money/wallets/index.ts'
import { newId } from '../../../values/ids.ts'
import type { paymentTokensApi } from './api.ts'
import { presentedToken } from './token-rows.ts'

type TakeAnswer = z.output<(typeof paymentTokensApi.take)['returns'][1]>

/**
 * Finds the token on the payer's side, and has the payer's ledger charged in this transaction, by which the money comes
 * into this one. The answer does not distinguish a wrong agent, wallet or mode from a token that does not exist.
 */
export const charge: HandlerOf<typeof paymentTokensApi.charge> = async ({ params, body }, context) => {
  const { sql, tenant, actor, refuse, emit, runForOwner } = context
  const { paymentToken, amountEuros } = body
  const token = await presentedToken(sql, paymentToken)
  const isTheirs =
    token?.recipientOwnerId === tenant.ownerId && token.mode === tenant.mode && token.agentId === params.id
  if (!token || !isTheirs) return refuse('token_not_found')
  const { id: tokenId, agentId, ownerId, mode, recipientWalletId: walletId } = token
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  if (!wallet || (actor.agentId !== null && wallet.agentId !== actor.agentId))
    return refuse('token_not_found')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  const transactionId = newId('txn')
  const input = { params: { id: tokenId }, body: { chargeId: transactionId, amountEuros } }
  // The payer's side learns no id of this request, which may be of the caller's own making.
  const taken = await runForOwner({ ownerId, mode }, 'paymentTokens.take', input, `charge:${tokenId}`)
  const { refusal, message } = taken as TakeAnswer
  if (refusal) return refuse(refusal, message ?? undefined)
  emit('claim.payment_token.accepted', { transactionId, walletId, amountEuros })
  return { status: 'completed', agentId, walletId, amountEuros, transactionId }
}
