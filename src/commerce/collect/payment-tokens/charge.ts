import type { z } from 'zod'
import { isNonEmpty } from '../../../kernel/contract/handlers.ts'
import type { HandlerOf } from '../../../kernel/contract/operation.ts'
import { Refusal } from '../../../kernel/contract/problem.ts'
import { walletsById } from '../../../money/wallets/index.ts'
import { newId } from '../../../values/ids.ts'
import { formatMoney } from '../../../values/money.ts'
import { decideTransfers, type TransferBatch, type TransferRequest } from '../../transfers/index.ts'
import { paymentTokenEvent, type paymentTokensApi, type TokenChargeRefusal } from './api.ts'
import {
  findPaymentTokenBySecret,
  lockPaymentTokens,
  type PayerPaymentToken,
  type PaymentTokenRow,
  paymentTokenMachine,
  paymentTokensOfPayer,
  unusablePaymentTokenReason,
  updatePaymentTokens,
} from './payment-token.ts'

type TakeResult = z.output<(typeof paymentTokensApi.take)['returns'][1]>

/**
 * Finds the token of the payer and charges the payer's ledger in this transaction, which also credits the
 * wallet. The answer does not distinguish a wrong agent, wallet or mode from a token that does not exist.
 */
export const chargePaymentToken: HandlerOf<typeof paymentTokensApi.charge> = async (
  { params, body },
  context,
) => {
  const { sql, tenant, actor, refuse, emit, runForOwner } = context
  const { paymentToken, amountCents } = body
  const token = await findPaymentTokenBySecret(sql, paymentToken)
  const isTheirs =
    token?.recipientOwnerId === tenant.ownerId && token.mode === tenant.mode && token.agentId === params.id
  if (!token || !isTheirs) return refuse('token_not_found')
  const { id: tokenId, agentId, ownerId, mode, recipientWalletId: walletId } = token
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  if (!wallet || (actor.agentId !== null && wallet.agentId !== actor.agentId))
    return refuse('token_not_found')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  const transactionId = newId('txn')
  const input = { params: { id: tokenId }, body: { chargeId: transactionId, amountCents } }
  // The payer must not learn this request's id, which the caller may have chosen.
  const taken = await runForOwner({ ownerId, mode }, 'paymentTokens.take', input, `charge:${tokenId}`)
  const { refusal, message } = taken as TakeResult
  if (refusal) return refuse(refusal, message ?? undefined)
  emit('claim.payment_token.accepted', { transactionId, walletId, amountCents })
  return { status: 'completed', agentId, walletId, amountCents, transactionId }
}

type Handler = HandlerOf<typeof paymentTokensApi.take, State>
type Request = Parameters<Handler['decide']>[0]

interface State {
  readonly tokens: ReadonlyMap<string, PaymentTokenRow>
  readonly requests: ReadonlyMap<Request, TransferRequest>
  readonly batch: TransferBatch | undefined
  readonly charged: PaymentTokenRow[]
}

function transferRequest(request: Request, token: PayerPaymentToken): TransferRequest {
  const { chargeId, amountCents } = request.input.body
  const { id: paymentTokenId, fromWalletId, intentId, recipientOwnerId: ownerId } = token
  const payable = { type: 'payment_token', id: chargeId } as const
  const to = { ownerId, walletId: token.recipientWalletId, name: token.recipientName, iban: null }
  const payee = { requestId: null, paymentTokenId, ...to, payable }
  const body = { fromWalletId, amountCents, reference: null, intentId, payee }
  return { ...request, input: { params: {}, query: {}, body } }
}

const ALREADY_CHARGED = { refusal: null, message: null }

const refused = (refusal: TokenChargeRefusal, message: string | null = null) => ({ refusal, message })

/** Returns the refusal that the token itself causes, or the earlier answer if this charge was already made. */
function answerOf({ input, now }: Request, token: PaymentTokenRow) {
  const { chargeId, amountCents } = input.body
  if (token.chargeId === chargeId) return ALREADY_CHARGED
  const over = unusablePaymentTokenReason(token, now)
  if (over) return refused(over)
  if (amountCents <= token.amountCents) return undefined
  const message = `amountEuros: the token is for at most ${formatMoney(token.amountCents)}.`
  return refused('amount_exceeded', message)
}

/** Pays through transfers, with the same checks. Of concurrent charges of a token, only one finds its intent unpaid. */
export const takePaymentTokenCharge = {
  async load(items, sql, ports): Promise<State> {
    const { tenant } = items[0]
    const ids = items.map(({ input }) => input.params.id)
    const paying = new Map((await paymentTokensOfPayer(sql, tenant, ids)).map(token => [token.id, token]))
    const requests = new Map(
      items.flatMap(item => {
        const token = paying.get(item.input.params.id)
        return token ? [[item, transferRequest(item, token)] as const] : []
      }),
    )
    const paid = [...requests.values()]
    const batch = isNonEmpty(paid) ? await decideTransfers.load(paid, sql, ports) : undefined
    const tokens = await lockPaymentTokens(sql, tenant, [...paying.keys()])
    return { tokens, requests, batch, charged: [] }
  },

  decide(item, state, verdict) {
    const { tokens, requests, batch, charged } = state
    const token = tokens.get(item.input.params.id)
    const request = requests.get(item)
    if (!token || !request || !batch) return verdict.refuse('token_not_found')
    const answer = answerOf(item, token)
    if (answer) return answer
    const quiet = { ...verdict, refuse: () => verdict.refuse('token_not_found') }
    const transfer = decideTransfers.decide(request, batch, quiet)
    // The charging owner must not learn why the payer is blocked.
    if (transfer instanceof Refusal) return refused('token_blocked')
    paymentTokenMachine.move(token, 'charged')
    const { chargeId, amountCents: chargedCents } = item.input.body
    const { transactionId } = transfer
    Object.assign(token, { chargeId, chargedCents, chargedAt: item.now, updatedAt: item.now, transactionId })
    charged.push(token)
    verdict.emit('claim.payment_token.charged', paymentTokenEvent(token))
    return ALREADY_CHARGED
  },

  async write(state, sql, runForOwner) {
    const { batch, charged } = state
    const [tenant] = charged
    if (batch && tenant)
      await Promise.all([
        decideTransfers.write(batch, sql, runForOwner),
        updatePaymentTokens(sql, tenant, charged),
      ])
  },
} satisfies Handler
