import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import { lock } from '../../kernel/database/entity.ts'
import { DEBT_ACCOUNTS, openBook } from '../ledger/index.ts'
import { payableWallets, walletEvent, walletsById } from '../wallets/index.ts'
import type { incomingApi } from './api.ts'
import { causeOf, creditEvent, creditMachine, IncomingCredit, platformTenant } from './incoming-credit.ts'
import { repayDebt } from './repay-debt.ts'

type Assigning = ContextOf<typeof incomingApi.assign>

/**
 * From suspense into a wallet. What lies on the ledger of the platform may be anybody's and changes ledgers; what is known
 * to be an owner's stays within his own.
 */
export async function assign(creditId: string, walletId: string, context: Assigning) {
  const { em, sql, actFor, emit, refuse } = context
  const known = await em.findOne(IncomingCredit, { id: creditId })
  if (!known) return refuse('credit_not_found')
  const { mode } = known
  const isPlatform = known.ownerId === PLATFORM_OWNER
  const [target] = await payableWallets(
    sql,
    { mode, ownerId: isPlatform ? null : known.ownerId },
    { ids: [walletId] },
  )
  if (!target) return refuse('wallet_not_found')
  const tenant = { ownerId: target.ownerId, mode }
  // An owner's accounts before those of the platform, as when money comes in: `customer_0…` sorts before `customer_h…`.
  actFor(tenant)
  const others = isPlatform ? (['bank'] as const) : (['bank', 'suspense'] as const)
  const book = await openBook(sql, context, { wallets: [walletId], others, ifExists: DEBT_ACCOUNTS })
  const platformBook = await openPlatformBook(isPlatform, context, mode)
  const wallet = (await walletsById(sql, tenant, [walletId])).get(walletId)
  const credit = await lock(em, IncomingCredit, creditId)
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
