import { burnAssertion } from '../../identity/passkeys/index.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { openBook, shortfallText } from '../../money/ledger/index.ts'
import { isPurse, purseRefusal, type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { MAX_TRANSFER } from './api.ts'
import { transferEvent } from './events.ts'
import { transferResponse } from './response.ts'
import { paymentSubject, signatureOf, signedWallets } from './signed-payment.ts'
import type { splitApi } from './split-api.ts'
import { divide, type Part, Transfer, transferMachine } from './transfer.ts'

type Split = ContextOf<typeof splitApi.split>

interface SplitRequest {
  readonly amountEuros?: bigint | undefined
  readonly parts: readonly {
    walletId: string
    amountEuros?: bigint | undefined
    share?: number | undefined
  }[]
}

/** The amount of each wallet, as given or by its share. */
export function partsOf({ amountEuros, parts }: SplitRequest): Part[] {
  const amounts =
    amountEuros === undefined
      ? parts.map(part => part.amountEuros ?? 0n)
      : divide(
          amountEuros,
          parts.map(({ share = 0 }) => share),
        )
  return parts.map(({ walletId }, index) => ({ walletId, amountEuros: amounts[index] ?? 0n }))
}

/** The refusal because of the amounts; undefined if they can be paid. */
export function partsRefusal(parts: readonly Part[]): 'too_much' | 'part_of_nothing' | undefined {
  if (parts.reduce((sum, { amountEuros }) => sum + amountEuros, 0n) > MAX_TRANSFER) return 'too_much'
  return parts.some(({ amountEuros }) => amountEuros === 0n) ? 'part_of_nothing' : undefined
}

const memberOf = (index: number): string => (index === 0 ? 'fromWalletId' : `parts.${index - 1}.walletId`)

/** The refusal because of the wallets; undefined if they can take part. */
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
  const { records, sql, tenant, now, emit, refuse, sendAlong } = context
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
  const amountEuros = parts.reduce((sum, part) => sum + part.amountEuros, 0n)
  const [from, ...payees] = ids.map(id => wallets.get(id))
  const refusal = walletRefusal(from, payees, context)
  if (refusal) return refusal
  if (!book.canPay(fromWalletId, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(fromWalletId)))
  const transfer = records.create(Transfer, {
    kind: 'split',
    fromWalletId,
    amountEuros,
    parts: parts.map(part => ({ walletId: part.walletId, cents: String(part.amountEuros) })),
    reference,
    completedAt: now,
  })
  transferMachine.move(transfer, 'completed')
  book.split('transfer', fromWalletId, parts, { type: 'transfer', id: transfer.id })
  sendAlong(book.post(sql))
  emit('transfer.split.completed', { ...transferEvent(transfer), parts })
  return transferResponse(transfer)
}
