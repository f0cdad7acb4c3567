import type { ContextOf } from '../../kernel/contract/operation.ts'
import { FORCED_DEBIT_ACCOUNTS, openBook } from '../ledger/index.ts'
import { walletEvent, walletsById } from '../wallets/index.ts'
import type { fundApi } from './api.ts'
import { Funding, fundingMachine } from './funding.ts'
import { fundingEvent, lockFunding } from './settle.ts'

type Reversing = ContextOf<typeof fundApi.reverse>

/**
 * Records that the payer's bank has drawn the money back, even if the wallet has spent it: the owner then owes the rest.
 * What is held for payments stays held.
 */
export async function reverse(id: string, message: string, context: Reversing) {
  const { records, sql, tenant, now, emit, refuse } = context
  const { walletId } = await records.findOneOrFail(Funding, { id })
  const book = await openBook(sql, context, { wallets: [walletId], others: FORCED_DEBIT_ACCOUNTS })
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  const funding = await lockFunding(id, context)
  if (!wallet || funding.status !== 'settled') return refuse('funding_not_settled')
  const { amountEuros } = funding
  const owed = book.forceDebit('fund_reversal', walletId, 'bank', amountEuros, { type: 'funding', id })
  await book.post(sql)
  fundingMachine.move(funding, 'reversed')
  Object.assign(funding, { reversedAt: now, reason: { code: 'reversed', message } })
  emit('funding.reversed', { ...fundingEvent(funding), owedEuros: owed })
  const taken = amountEuros - owed
  if (taken > 0n) emit('wallet.debited', walletEvent(wallet, book.balance(walletId).posted, taken))
  return funding
}
