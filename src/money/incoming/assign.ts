import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { DEBT_ACCOUNTS, openBook } from '../ledger/index.ts'
import { payableWallets, walletEvent, walletsById } from '../wallets/index.ts'
import type { incomingApi } from './api.ts'
import { causeOf, creditEvent, creditMachine, IncomingCredit, platformTenant } from './incoming-credit.ts'
import { repayDebt } from './repay-debt.ts'

type Assigning = ContextOf<typeof incomingApi.assign>

/**
 * Moves a credit from suspense into a wallet. One on the platform's ledger may go to any owner, and changes ledgers; one
 * on an owner's ledger stays with that owner.
 */
export async function assign(creditId: string, walletId: string, context: Assigning) {
  const { records, sql, actFor, emit, refuse } = context
  const unlocked = await records.findOne(IncomingCredit, { id: creditId })
  if (!unlocked) return refuse('credit_not_found')
  const { mode, ownerId } = unlocked
  const isPlatform = ownerId === PLATFORM_OWNER
  const [target] = await payableWallets(
    sql,
    { mode, ownerId: isPlatform ? null : ownerId },
    { ids: [walletId] },
  )
  if (!target) return refuse('wallet_not_found')
  const tenant = { ownerId: target.ownerId, mode }
  // Lock order of owners, as in `receive`: every `customer_0…` sorts before the platform's `customer_house`.
  actFor(tenant)
  const others = isPlatform ? (['bank'] as const) : (['bank', 'suspense'] as const)
  const book = await openBook(sql, context, { wallets: [walletId], others, ifExists: DEBT_ACCOUNTS })
  const platformBook = await openPlatformBook(isPlatform, context, mode)
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  const credit = await records.lock(IncomingCredit, creditId)
  if (!wallet || wallet.status === 'closed') return refuse('wallet_closed')
  if (credit?.status !== 'unmatched') return refuse('credit_not_unmatched')
  const { amountEuros } = credit
  platformBook?.move('hand_over', 'suspense', 'bank', amountEuros, causeOf(credit))
  if (platformBook) book.move('sepa_credit', 'bank', walletId, amountEuros, causeOf(credit))
  else book.move('assignment', 'suspense', walletId, amountEuros, causeOf(credit))
  creditMachine.move(credit, 'assigned')
  Object.assign(credit, { walletId, ownerId: target.ownerId })
  emit('incoming.assigned', creditEvent(credit))
  emit('wallet.credited', walletEvent(wallet, book.balance(walletId).posted, amountEuros))
  repayDebt(wallet, amountEuros, causeOf(credit), book, emit)
  await platformBook?.post(sql)
  await book.post(sql)
  return credit
}

const openPlatformBook = async (needed: boolean, { sql, now }: Assigning, mode: 'test' | 'live') =>
  needed
    ? openBook(sql, { tenant: platformTenant(mode), now }, { wallets: [], others: ['bank', 'suspense'] })
    : undefined
