import type { Context } from '../../kernel/contract/context.ts'
import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { newId } from '../../values/ids.ts'
import { openBook, shortfallText } from '../ledger/index.ts'
import { isPurse, mainWallet, walletsById } from '../wallets/index.ts'
import type { billingApi } from './api.ts'

type DepositContext = Pick<Context, 'records' | 'sql' | 'tenant' | 'now'>

/** Locks the float and a wallet, the oldest open one if none is named. */
async function lockAccounts(namedWalletId: string | null, context: DepositContext) {
  const { sql, tenant } = context
  const walletId = namedWalletId ?? (await mainWallet(context))?.id ?? ''
  const [book, wallets] = await Promise.all([
    openBook(sql, context, { wallets: [walletId], others: ['float'] }),
    walletsById(sql, tenant, [walletId]),
  ])
  return { book, wallet: wallets.get(walletId) }
}

/** Moves money from a wallet to the float: a deposit with the card processor, which no authorization looks at. */
export const fundProcessor: HandlerOf<typeof billingApi.fundProcessor> = async ({ body }, context) => {
  const { sql, emit, refuse, sendAlong } = context
  const { amountEuros } = body
  const { book, wallet } = await lockAccounts(body.fromWalletId, context)
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  if (wallet.status === 'frozen') return refuse('wallet_frozen')
  if (!book.canPay(wallet.id, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(wallet.id)))
  const cause = { type: 'processor_funding', id: newId('processorfunding') }
  book.move('processor_fund', wallet.id, 'float', amountEuros, cause)
  sendAlong(book.post(sql))
  const balanceEuros = book.available('float')
  emit('processor.funded', { walletId: wallet.id, amountEuros, balanceEuros })
  return { currency: 'EUR', balanceEuros }
}

/** Moves money from the float back to a wallet, a frozen one too: that only keeps money from leaving it. */
export const withdrawFromProcessor: HandlerOf<typeof billingApi.withdrawFromProcessor> = async (
  { body },
  context,
) => {
  const { sql, emit, refuse, sendAlong } = context
  const { amountEuros } = body
  const { book, wallet } = await lockAccounts(body.toWalletId, context)
  if (!wallet) return refuse('wallet_not_found')
  if (isPurse(wallet)) return refuse('wallet_of_card')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  if (!book.canPay('float', amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available('float')))
  const cause = { type: 'processor_withdrawal', id: newId('processorwithdrawal') }
  book.move('processor_withdraw', 'float', wallet.id, amountEuros, cause)
  sendAlong(book.post(sql))
  const balanceEuros = book.available('float')
  emit('processor.withdrawn', { walletId: wallet.id, amountEuros, balanceEuros })
  return { currency: 'EUR', balanceEuros }
}
