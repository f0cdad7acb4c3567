import { refuseUnsignedWidening } from '../../identity/passkeys/index.ts'
import { area } from '../../kernel/contract/area.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import { bindHandlers } from '../../kernel/contract/operation.ts'
import { definedOnly, FOR_UPDATE } from '../../kernel/database/entity.ts'
import { NO_CENTS, subtractCents } from '../../values/money.ts'
import { lockBook, readWalletBalanceAt, readWalletBalances, setAccountFrozen } from '../ledger/index.ts'
import { walletsApi } from './api.ts'
import { closeWallet, openWallet, walletNotClosed } from './lifecycle.ts'
import {
  balanceInBook,
  walletEventWithBalance,
  walletsWithBalances,
  walletWithBalance,
  ZERO_BALANCE,
} from './response.ts'
import { isPurse, Wallet, walletMachine, walletsPersonalData } from './wallet.ts'

/** Why a wallet cannot be a parent. Locks it, so that it is not closed at the same time. */
async function parentProblem(id: string, { em }: WriteContext) {
  const wallet = await em.findOne(Wallet, { id }, FOR_UPDATE)
  if (!wallet) return 'parent_not_found'
  return wallet.kind === 'owner' && wallet.status !== 'closed' ? undefined : 'parent_not_usable'
}

export async function findWallet({ em, sql, tenant }: ReadContext, id: string) {
  const [wallet, balances] = await Promise.all([
    em.findOne(Wallet, { id }),
    readWalletBalances(sql, tenant, [id]),
  ])
  return wallet && walletWithBalance(wallet, balances.get(id) ?? ZERO_BALANCE)
}

/** Locked after its account. Payments lock the account too, so none is in progress. */
async function lockWallet(context: WriteContext, id: string) {
  const { em, sql } = context
  return Promise.all([lockBook(sql, context, { wallets: [id] }), em.findOne(Wallet, { id }, FOR_UPDATE)])
}

const wallets = bindHandlers(walletsApi, {
  async create({ body }, context) {
    const { parentWalletId } = body
    const problem = parentWalletId && (await parentProblem(parentWalletId, context))
    if (problem) return context.refuse(problem)
    return walletWithBalance(await openWallet(body, context), ZERO_BALANCE)
  },

  async list({ query: { status = walletNotClosed, kind, agentId, cardId, parentWalletId, iban } }, context) {
    const { data, ...cursor } = await context.page(
      Wallet,
      definedOnly({ status, kind, agentId, cardId, parentWalletId, iban }),
    )
    return { ...cursor, data: await walletsWithBalances(data, context) }
  },

  async get({ params }, context) {
    return (await findWallet(context, params.id)) ?? context.refuse('wallet_not_found')
  },

  async update({ params, body: { status, webauthnAssertion, ...members } }, context) {
    const { sql, tenant, emit, refuse, queueStatement } = context
    const [book, wallet] = await lockWallet(context, params.id)
    if (!wallet) return refuse('wallet_not_found')
    if (wallet.status === 'closed') return refuse('wallet_closed')
    if (status && isPurse(wallet)) return refuse('wallet_of_card')
    const { id, name } = wallet
    const isUnfrozen = wallet.status === 'frozen' && status === 'active'
    const unsigned = await refuseUnsignedWidening(
      webauthnAssertion,
      () => (isUnfrozen ? [{ of: 'wallet', id, name, field: 'Status', from: 'frozen', to: 'active' }] : []),
      context,
    )
    if (unsigned) return unsigned
    if (status && walletMachine.move(wallet, status))
      queueStatement(setAccountFrozen(sql, tenant, wallet.id, status === 'frozen'))
    Object.assign(wallet, members)
    const record = walletWithBalance(wallet, balanceInBook(book, wallet.id))
    emit('wallet.updated', walletEventWithBalance(wallet, record))
    return record
  },

  async balance({ params, query }, { em, sql, tenant, now, refuse }) {
    const wallet = await em.findOne(Wallet, { id: params.id })
    if (!wallet) return refuse('wallet_not_found')
    const at = query.at ?? now
    const balance = await readWalletBalanceAt(sql, tenant, at, wallet.id)
    const { posted, held } = balance ?? { posted: NO_CENTS, held: NO_CENTS }
    return { walletId: wallet.id, at, availableCents: subtractCents(posted, held), heldCents: held }
  },

  async close({ params }, context) {
    const { em, refuse } = context
    const [[book, wallet], openBelow] = await Promise.all([
      lockWallet(context, params.id),
      em.count(Wallet, { parentWalletId: params.id, status: walletNotClosed }),
    ])
    if (!wallet) return refuse('wallet_not_found')
    if (isPurse(wallet)) return refuse('wallet_of_card')
    if (wallet.kind === 'agent') return refuse('wallet_of_agent')
    if (book.balance(wallet.id).posted > 0n) return refuse('wallet_not_empty')
    if (openBelow > 0) return refuse('wallet_has_children')
    if (!(await closeWallet(wallet.id, context))) return refuse('wallet_closed')
    return walletWithBalance(wallet, ZERO_BALANCE)
  },
})

export const walletsArea = area(
  'Wallets',
  'Where an owner keeps money. Each wallet has its own account number, and each agent its own wallet.',
  wallets,
  {
    aliases: { wallets: 'accounts' },
    personal: walletsPersonalData,
    entities: [Wallet],
    machines: [walletMachine],
  },
)
