import type { z } from 'zod'
import type { Tenant } from '../../../kernel/contract/actor.ts'
import type { ContextOf, HandlerOf } from '../../../kernel/contract/operation.ts'
import { Transaction } from '../../../money/transactions/index.ts'
import { walletsById } from '../../../money/wallets/index.ts'
import { newId } from '../../../values/ids.ts'
import type { Euros } from '../../../values/money.ts'
import type { paymentTokensApi } from './api.ts'
import { isChargedBy, presentedToken } from './token-rows.ts'

type Handler = HandlerOf<typeof paymentTokensApi.charge>
type Context = ContextOf<typeof paymentTokensApi.charge>

/** A charge before the payer's side has decided about it. Stored before that, so it must be JSON. */
interface Charge {
  /** The transaction that it becomes on the side of who is paid. */
  readonly chargeId: string
  readonly payer: Tenant
  readonly tokenId: string
  readonly agentId: string
  readonly walletId: string
  readonly cents: string
}

type TakeAnswer = z.output<(typeof paymentTokensApi.take)['returns'][1]>

const amountOf = ({ cents }: Charge): Euros => BigInt(cents)

/** Finds the token on the payer's side. Nothing tells a wrong agent, wallet or mode from a token that does not exist. */
async function reserve(
  agentId: string,
  body: { readonly paymentToken: string; readonly amountEuros: Euros },
  context: Context,
) {
  const { sql, tenant, actor, refuse } = context
  const token = await presentedToken(sql, body.paymentToken)
  const isTheirs =
    token?.recipientOwnerId === tenant.ownerId && token.mode === tenant.mode && token.agentId === agentId
  if (!token || !isTheirs) return refuse('token_not_found')
  const { id: tokenId, ownerId, mode, recipientWalletId: walletId } = token
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  if (!wallet || (actor.agentId !== null && wallet.agentId !== actor.agentId))
    return refuse('token_not_found')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  const cents = String(body.amountEuros)
  return { chargeId: newId('txn'), payer: { ownerId, mode }, tokenId, agentId, walletId, cents }
}

/** The answer of a charge that has taken its amount: the money is in the wallet, or on its way there. */
async function chargeRecord(charge: Charge, { records, emit }: Context) {
  const { chargeId: transactionId, agentId, walletId } = charge
  const amountEuros = amountOf(charge)
  const transaction = await records.findOne(Transaction, { id: transactionId })
  const status = transaction ? ('completed' as const) : ('pending' as const)
  emit('claim.payment_token.accepted', { transactionId, walletId, amountEuros })
  return { status, agentId, walletId, amountEuros, transactionId }
}

/**
 * The payer's ledger is charged in a transaction of the payer's own. It hands the money over with a deadline, so it comes
 * into this ledger exactly once, whatever becomes of this request.
 */
export const charge: Handler = {
  reserve: ({ params, body }, context) => reserve(params.id, body, context),

  // The payer's side learns no id of this request, which may be of the caller's own making.
  async call({ payer, tokenId, chargeId, cents }: Charge, { ports }): Promise<unknown> {
    const body = { chargeId, amountEuros: BigInt(cents) }
    const input = { params: { id: tokenId }, body }
    return ports.runFor(payer, 'paymentTokens.take', input, `charge:${tokenId}`)
  },

  async record(answer, charge: Charge, context) {
    const { refusal, message } = answer as TakeAnswer
    return refusal ? context.refuse(refusal, message ?? undefined) : chargeRecord(charge, context)
  },

  async recover(charge: Charge, context) {
    const isTaken = await isChargedBy(context.sql, charge.payer, charge.tokenId, charge.chargeId)
    return isTaken ? chargeRecord(charge, context) : context.refuse('charge_interrupted')
  },
}
