import { PLATFORM_OWNER } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import { Settled } from '../../kernel/contract/handlers.ts'
import type { ContextOf, HandlerOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { DEBT_ACCOUNTS, openBook } from '../ledger/index.ts'
import { isPurse, type PayableWallet, payableWallets, walletEvent, walletsById } from '../wallets/index.ts'
import type { incomingApi } from './api.ts'
import { bookAll, type HandedOver, handedOver, handOverDue, noteArrived } from './hand-over.ts'
import { causeOf, creditEvent, creditMachine, IncomingCredit, platformTenant } from './incoming-credit.ts'
import { repayDebt } from './repay-debt.ts'

type Assigning = ContextOf<typeof incomingApi.assign>

/** An owner may have a record of the same id as the platform: it has arrived. */
const TENANT_OF_CREDIT = `
select owner_id as "ownerId", mode from incoming_credits where id = $1 order by status = 'handed_over' limit 1`

async function tenantOf(sql: Sql, creditId: string): Promise<Tenant | undefined> {
  const [tenant] = await sql<Tenant & Row>(TENANT_OF_CREDIT, [creditId])
  return tenant
}

/**
 * Moves a credit from suspense into a wallet. One on an owner's ledger stays with that owner. One on the platform's may go
 * to any owner, in two transactions: the platform hands it over, and the owner books it.
 */
export const assign: HandlerOf<typeof incomingApi.assign> = {
  async reserve({ params, body: { walletId } }, context) {
    const { sql, refuse } = context
    const tenant = await tenantOf(sql, params.id)
    if (!tenant) return refuse('credit_not_found')
    const { mode, ownerId } = tenant
    const isPlatform = ownerId === PLATFORM_OWNER
    const scope = { mode, ownerId: isPlatform ? null : ownerId }
    const [wallet] = await payableWallets(sql, scope, { ids: [walletId] })
    if (!wallet) return refuse('wallet_not_found')
    if (isPurse(wallet)) return refuse('wallet_of_card')
    context.actFor(tenant)
    return isPlatform ? handOver(params.id, wallet, context) : moveWithin(params.id, walletId, context)
  },

  call: async (credit: HandedOver, outside) => bookAll([credit], outside),

  async record(arrived: HandedOver[], { id, to }: HandedOver, context) {
    const holder = arrived.length > 0 ? to : platformTenant(to.mode)
    const [answer] = await Promise.all([answerOf(id, holder, context), noteArrived(context.sql, arrived)])
    return answer
  },

  // The sweep books it, if nobody has.
  async recover({ id, to }: HandedOver, context) {
    const holder = await tenantOf(context.sql, id)
    return answerOf(id, holder ?? to, context)
  },
}

async function handOver(creditId: string, wallet: PayableWallet, context: Assigning) {
  const { records, sql, tenant, now, emit, refuse, sendAlong } = context
  if (wallet.status === 'closed') return refuse('wallet_closed')
  const [book, credit] = await Promise.all([
    openBook(sql, context, { wallets: [], others: ['bank', 'suspense'] }),
    records.findOne(IncomingCredit, { ...tenant, id: creditId }, { lock: true }),
  ])
  if (credit?.status !== 'unmatched') return refuse('credit_not_unmatched')
  book.move('hand_over', 'suspense', 'bank', credit.amountEuros, causeOf(credit))
  creditMachine.move(credit, 'handed_over')
  Object.assign(credit, { walletId: wallet.id, toOwnerId: wallet.ownerId, dueAt: handOverDue(now) })
  emit('incoming.handed_over', creditEvent(credit))
  sendAlong(book.post(sql))
  return handedOver(credit)
}

async function moveWithin(creditId: string, walletId: string, context: Assigning) {
  const { records, sql, tenant, emit, refuse, sendAlong } = context
  const others = ['bank', 'suspense'] as const
  const [book, wallets, credit] = await Promise.all([
    openBook(sql, context, { wallets: [walletId], others, ifExists: DEBT_ACCOUNTS }),
    walletsById(sql, tenant, [walletId]),
    records.findOne(IncomingCredit, { ...tenant, id: creditId }, { lock: true }),
  ])
  const wallet = wallets.get(walletId)
  if (!wallet || wallet.status === 'closed') return refuse('wallet_closed')
  if (credit?.status !== 'unmatched') return refuse('credit_not_unmatched')
  const { amountEuros } = credit
  book.move('assignment', 'suspense', walletId, amountEuros, causeOf(credit))
  creditMachine.move(credit, 'assigned')
  Object.assign(credit, { walletId })
  emit('incoming.assigned', creditEvent(credit))
  emit('wallet.credited', walletEvent(wallet, book.balance(walletId).posted, amountEuros))
  repayDebt(wallet, amountEuros, causeOf(credit), book, emit)
  sendAlong(book.post(sql))
  return new Settled(credit)
}

/** The credit as it lies with its owner; as the platform has it while it is on its way. */
async function answerOf(id: string, holder: Tenant, { records, refuse }: Assigning) {
  const credit = await records.findOneOrFail(IncomingCredit, { ...holder, id })
  if (credit.status !== 'unmatched') return credit
  return refuse(
    'wallet_closed',
    'The wallet was closed meanwhile: the money waits on its owner’s suspense account.',
  )
}
