import { burnAssertion } from '../../identity/passkeys/index.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { openBook, shortfallText } from '../../money/ledger/index.ts'
import { isPurse, purseRefusal, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { sumOf } from '../../values/money.ts'
import type { splitApi } from './api.ts'
import { paymentSubject, signatureOf, signedWallets } from './signed-payment.ts'
import {
  partsOf,
  partsRefusal,
  Transfer,
  transferEvent,
  transferMachine,
  transferResponse,
} from './transfer.ts'

type Split = ContextOf<typeof splitApi.split>

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

export const split: HandlerOf<typeof splitApi.split> = async ({ body }, context) => {
  const { records, sql, tenant, now, emit, refuse, queueStatement } = context
  const parts = partsOf(body)
  const signed = await signatureOf(body.webauthnAssertion, context)
  if (typeof signed === 'string') return refuse(signed)
  const { fromWalletId, reference } = body
  const ids = [fromWalletId, ...parts.map(({ walletId }) => walletId)]
  const [book, wallets] = await Promise.all([
    openBook(sql, context, { wallets: ids }),
    walletsById(sql, tenant, ids),
  ])
  const members = paymentSubject(fromWalletId, signedWallets(parts, wallets))
  const code = signed && (await burnAssertion(signed, { kind: 'payment', members }, context))
  if (code) return refuse(code)
  const problem = partsRefusal(parts)
  if (problem) return refuse(problem)
  const amountCents = sumOf(parts.map(part => part.amountCents))
  const [from, ...payees] = ids.map(id => wallets.get(id))
  const refusal = walletRefusal(from, payees, context)
  if (refusal) return refusal
  if (!book.canPay(fromWalletId, amountCents))
    return refuse('insufficient_funds', shortfallText(amountCents, book.available(fromWalletId)))
  const transfer = records.create(Transfer, {
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
