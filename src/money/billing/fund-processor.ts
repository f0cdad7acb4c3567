import type { HandlerOf } from '../../kernel/contract/operation.ts'
import { newId } from '../../values/ids.ts'
import { openBook, shortfallText } from '../ledger/index.ts'
import { mainWallet, walletsById } from '../wallets/index.ts'
import type { billingApi } from './api.ts'

/** Moves money from a wallet to the float, the account at the card processor that card payments come from. */
export const fundProcessor: HandlerOf<typeof billingApi.fundProcessor> = async ({ body }, context) => {
  const { sql, tenant, emit, refuse, sendAlong } = context
  const { amountEuros } = body
  const walletId = body.fromWalletId ?? (await mainWallet(context))?.id ?? ''
  const [book, wallets] = await Promise.all([
    openBook(sql, context, { wallets: [walletId], others: ['float'] }),
    walletsById(sql, tenant, [walletId]),
  ])
  const wallet = wallets.get(walletId)
  if (!wallet) return refuse('wallet_not_found')
  if (wallet.status === 'closed') return refuse('wallet_closed')
  if (wallet.status === 'frozen') return refuse('wallet_frozen')
  if (!book.canPay(walletId, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(walletId)))
  const cause = { type: 'processor_funding', id: newId('processorfunding') }
  book.move('processor_fund', walletId, 'float', amountEuros, cause)
  sendAlong(book.post(sql))
  const balanceEuros = book.available('float')
  emit('processor.funded', { walletId, amountEuros, balanceEuros })
  return { currency: 'EUR', balanceEuros }
}
