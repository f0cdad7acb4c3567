import { SpendLocks } from '../../control/intents/index.ts'
import { consumeAssertion } from '../../identity/passkeys/index.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { shortfallMessage } from '../../money/ledger/index.ts'
import { isPurse, purseRefusal, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { sumOf } from '../../values/money.ts'
import type { splitTransferApi } from './api.ts'
import { signedPaymentSubject, signedWallets, verifyPaymentSignature } from './signed-payment.ts'
import {
  splitParts,
  splitPartsRefusal,
  Transfer,
  transferEvent,
  transferMachine,
  transferResponse,
} from './transfer.ts'

type Split = ContextOf<typeof splitTransferApi.split>

const memberOf = (index: number): string => (index === 0 ? 'fromWalletId' : `parts.${index - 1}.walletId`)

function walletRefusal(
  from: WalletRow | undefined,
  payees: readonly (WalletRow | undefined)[],
  { refuse }: Split,
) {
  if (!from || payees.includes(undefined)) return refuse('wallet_not_found')
  if (payees.includes(from)) return refuse('same_wallet')
  const purse = [from, ...payees].findIndex(wallet => wallet && isPurse(wallet))
  if (purse >= 0) return refuse('wallet_of_card', purseRefusal(memberOf(purse))[1])
  if ([from, ...payees].some(wallet => wallet?.status === 'closed')) return refuse('wallet_closed')
  return from.status === 'frozen' ? refuse('wallet_frozen') : undefined
}

export const splitTransfer: HandlerOf<typeof splitTransferApi.split> = async ({ body }, context) => {
  const { em, sql, tenant, now, emit, refuse, queueStatement } = context
  const parts = splitParts(body)
  const signed = await verifyPaymentSignature(body.webauthnAssertion, context)
  if (typeof signed === 'string') return refuse(signed)
  const { fromWalletId, reference } = body
  const ids = [fromWalletId, ...parts.map(({ walletId }) => walletId)]
  const [{ book }, wallets] = await Promise.all([
    new SpendLocks(sql, context).take({ wallets: ids }),
    walletsById(sql, tenant, ids),
  ])
  const members = signedPaymentSubject(fromWalletId, signedWallets(parts, wallets))
  const code = signed && (await consumeAssertion(signed, { kind: 'payment', members }, context))
  if (code) return refuse(code)
  const problem = splitPartsRefusal(parts)
  if (problem) return refuse(problem)
  const amountCents = sumOf(parts.map(part => part.amountCents))
  const [from, ...payees] = ids.map(id => wallets.get(id))
  const refusal = walletRefusal(from, payees, context)
  if (refusal) return refusal
  if (!book.canPay(fromWalletId, amountCents))
    return refuse('insufficient_funds', shortfallMessage(amountCents, book.available(fromWalletId)))
  const transfer = em.create(Transfer, {
    kind: 'split',
    fromWalletId,
    amountCents,
    parts: parts.map(part => ({ walletId: part.walletId, cents: String(part.amountCents) })),
    reference,
    completedAt: now,
  })
  transferMachine.move(transfer, 'completed')
  book.split('transfer', fromWalletId, parts, { type: 'transfer', id: transfer.id })
  queueStatement(book.post(sql))
  emit('transfer.split.completed', { ...transferEvent(transfer), parts })
  return transferResponse(transfer)
}
