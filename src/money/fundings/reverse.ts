import type { ContextOf } from '../../kernel/contract/operation.ts'
import { FORCED_DEBIT_ACCOUNTS } from '../ledger/index.ts'
import { walletEvent } from '../wallets/index.ts'
import type { fundApi } from './api.ts'
import { type Funding, fundingMachine } from './funding.ts'
import { fundingEvent, lockWithAccounts } from './settle.ts'

type Reversing = ContextOf<typeof fundApi.reverse>

/**
 * Records that the payer's bank has drawn the money back, even if the wallet has spent it: the owner then owes the rest.
 * What is held for payments stays held.
 */
export async function reverse(ids: Pick<Funding, 'id' | 'walletId'>, message: string, context: Reversing) {
  const { sql, now, emit, refuse, sendAlong } = context
  const { book, wallet, funding } = await lockWithAccounts(ids, { others: FORCED_DEBIT_ACCOUNTS }, context)
  if (funding.status !== 'settled') return refuse('funding_not_settled')
  const { id, amountEuros } = funding
  const owed = book.forceDebit('fund_reversal', wallet.id, 'bank', amountEuros, { type: 'funding', id })
  sendAlong(book.post(sql))
  fundingMachine.move(funding, 'reversed')
  Object.assign(funding, { reversedAt: now, reason: { code: 'reversed', message } })
  emit('funding.reversed', { ...fundingEvent(funding), owedEuros: owed })
  const taken = amountEuros - owed
  if (taken > 0n) emit('wallet.debited', walletEvent(wallet, book.balance(wallet.id).posted, taken))
  return funding
}
