import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import { openBook, shortfallText } from '../../money/ledger/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { HIGHEST } from './api.ts'
import { transferEvent } from './events.ts'
import { shown } from './response.ts'
import type { splitApi } from './split-api.ts'
import { divide, type Part, Transfer, transferMachine } from './transfer.ts'

type Split = ContextOf<typeof splitApi.split>

interface Asked {
  readonly amountEuros?: bigint | undefined
  readonly parts: readonly {
    walletId: string
    amountEuros?: bigint | undefined
    share?: number | undefined
  }[]
}

/** Who gets what. */
function partsOf({ amountEuros, parts }: Asked): Part[] {
  const amounts =
    amountEuros === undefined
      ? parts.map(part => part.amountEuros ?? 0n)
      : divide(
          amountEuros,
          parts.map(({ share = 0 }) => share),
        )
  return parts.map(({ walletId }, index) => ({ walletId, amountEuros: amounts[index] ?? 0n }))
}

/** Why these wallets cannot take part; undefined where they can. */
function hindrance(
  from: WalletRow | undefined,
  payees: readonly (WalletRow | undefined)[],
  { refuse }: Split,
) {
  if (!from || payees.includes(undefined)) return refuse('wallet_not_found')
  if (payees.includes(from)) return refuse('same_wallet')
  if ([from, ...payees].some(wallet => wallet?.status === 'closed')) return refuse('wallet_closed')
  return from.status === 'frozen' ? refuse('wallet_frozen') : undefined
}

async function known(ids: readonly string[], { sql, tenant }: Pick<Split, 'sql' | 'tenant'>) {
  const wallets = await walletsById(sql, tenant, ids)
  return ids.map(id => wallets.get(id))
}

export const split: HandlerOf<typeof splitApi.split> = async ({ body }, context) => {
  const { em, sql, now, emit, refuse } = context
  const parts = partsOf(body)
  const amountEuros = parts.reduce((sum, part) => sum + part.amountEuros, 0n)
  if (amountEuros > HIGHEST) return refuse('too_much')
  if (parts.some(part => part.amountEuros === 0n)) return refuse('part_of_nothing')
  const { fromWalletId, reference } = body
  const ids = [fromWalletId, ...parts.map(({ walletId }) => walletId)]
  const book = await openBook(sql, context, { wallets: ids })
  const [from, ...payees] = await known(ids, context)
  const hindered = hindrance(from, payees, context)
  if (hindered) return hindered
  if (!book.canPay(fromWalletId, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(fromWalletId)))
  const stored = parts.map(part => ({ walletId: part.walletId, cents: String(part.amountEuros) }))
  const members = {
    kind: 'split',
    fromWalletId,
    amountEuros,
    parts: stored,
    reference,
    completedAt: now,
  } as const
  const transfer = em.create(Transfer, members)
  transferMachine.move(transfer, 'completed')
  await em.flush()
  book.split('transfer', fromWalletId, parts, { type: 'transfer', id: transfer.id })
  await book.post(sql)
  emit('transfer.split.completed', { ...transferEvent(transfer), parts })
  return shown(transfer)
}
