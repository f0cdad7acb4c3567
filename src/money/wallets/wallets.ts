import type { z } from 'zod'
import { area } from '../../kernel/area.ts'
import type { Context, Tenant } from '../../kernel/context.ts'
import type { Row, Sql } from '../../kernel/database.ts'
import { newId } from '../../kernel/ids.ts'
import { implement } from '../../kernel/operation.ts'
import { given, lock } from '../../kernel/record.ts'
import { type Balance, balancesOf, closeAccount, openAccount, openBook, walletAt } from '../ledger/ledger.ts'
import { type WalletEvent, walletsApi } from './api.ts'
import { virtualIban } from './virtual-iban.ts'
import { Wallet, walletMachine } from './wallet.ts'

const EMPTY: Balance = { availableEuros: 0n, heldEuros: 0n }

type Reading = Pick<Context, 'sql' | 'tenant'>

const withBalance = (wallet: Wallet, { availableEuros, heldEuros }: Balance) => ({
  ...wallet,
  availableEuros,
  heldEuros,
})

/** The wallets with what is in them, read in one statement. */
async function withBalances(wallets: readonly Wallet[], { sql, tenant }: Reading) {
  const balances = await balancesOf(
    sql,
    tenant,
    wallets.map(({ id }) => id),
  )
  return wallets.map(wallet => withBalance(wallet, balances.get(wallet.id) ?? EMPTY))
}

async function shown(wallet: Wallet, context: Reading) {
  const [record] = await withBalances([wallet], context)
  return record as ReturnType<typeof withBalance>
}

const about = (
  { id, status }: Wallet,
  { availableEuros, heldEuros }: Balance,
  amountEuros?: bigint,
): z.output<typeof WalletEvent> => ({
  walletId: id,
  status,
  ...(amountEuros === undefined ? {} : { amountEuros }),
  balanceEuros: availableEuros + heldEuros,
})

type Opening = Pick<
  Context<never, { 'wallet.created': typeof WalletEvent }>,
  'em' | 'sql' | 'tenant' | 'now' | 'ports' | 'emit'
>
type Members = Pick<Wallet, 'name'> &
  Partial<Pick<Wallet, 'kind' | 'agentId' | 'parentWalletId' | 'metadata'>>

/** A wallet, its number and its account in the ledger. */
async function open(members: Members, context: Opening): Promise<Wallet> {
  const { em, sql, tenant, ports, emit } = context
  const [drawn] = await sql<{ number: bigint }>(`select nextval('wallet_numbers') as number`)
  const number = virtualIban(tenant.mode, ports.walletBank, drawn?.number ?? 0n)
  const wallet = em.create(Wallet, { ...members, ...number })
  await em.flush()
  await openAccount(sql, context, 'wallet', wallet.id)
  emit('wallet.created', about(wallet, EMPTY))
  return wallet
}

const isOpen = { $ne: 'closed' } as const

/** Of a wallet what whoever moves money must know. */
export interface Known extends Row {
  readonly id: string
  readonly status: Wallet['status']
  readonly agentId: string | null
  readonly iban: string | null
}

const KNOWN = `
select id, status, agent_id as "agentId", iban from wallets
where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** Read once their accounts are locked: nobody freezes or closes a wallet without its account. */
export async function walletsOf(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, Known>> {
  const wallets = await sql<Known>(KNOWN, [ownerId, mode, ids])
  return new Map(wallets.map(wallet => [wallet.id, wallet]))
}

/** Locked, so that it is not closed meanwhile. */
async function canHoldOthers(id: string, { em }: Pick<Context, 'em'>): Promise<boolean> {
  const wallet = await lock(em, Wallet, id)
  return wallet?.kind === 'owner' && wallet.status !== 'closed'
}

const wallets = implement(walletsApi, {
  async create({ body }, context) {
    const { parentWalletId } = body
    if (parentWalletId && !(await canHoldOthers(parentWalletId, context)))
      return context.refuse('parent_not_usable')
    return withBalance(await open(body, context), EMPTY)
  },

  async list({ query: { status = isOpen, kind, agentId, parentWalletId, iban } }, context) {
    const found = await context.page(Wallet, given({ status, kind, agentId, parentWalletId, iban }))
    return { ...found, data: await withBalances(found.data, context) }
  },

  async get({ params }, context) {
    const wallet = await context.em.findOne(Wallet, { id: params.id })
    return wallet ? shown(wallet, context) : context.refuse('wallet_not_found')
  },

  async update({ params, body: { status, ...members } }, context) {
    const { em, emit, refuse } = context
    // Whoever pays from it holds its account: nothing is under way while it is being frozen.
    await openBook(context.sql, context, { wallets: [params.id] })
    const wallet = await lock(em, Wallet, params.id)
    if (!wallet) return refuse('wallet_not_found')
    if (wallet.status === 'closed') return refuse('wallet_closed')
    if (status) walletMachine.move(wallet, status)
    Object.assign(wallet, members)
    const record = await shown(wallet, context)
    emit('wallet.updated', about(wallet, record))
    return record
  },

  async balance({ params, query }, { em, sql, tenant, now, refuse }) {
    const wallet = await em.findOne(Wallet, { id: params.id })
    if (!wallet) return refuse('wallet_not_found')
    const at = query.at ?? now
    const stood = await walletAt(sql, tenant, at, wallet.id)
    const { posted, held } = stood ?? { posted: 0n, held: 0n }
    return { walletId: wallet.id, at, availableEuros: posted - held, heldEuros: held }
  },

  async fund({ params, body }, context) {
    const { em, sql, tenant, emit, refuse } = context
    const wallet = await em.findOne(Wallet, { id: params.id })
    if (!wallet) return refuse('wallet_not_found')
    if (tenant.mode === 'live') return refuse('live_rail_missing')
    const book = await openBook(sql, context, { wallets: [wallet.id], others: ['bank'] })
    await em.refresh(wallet)
    if (wallet.status === 'closed') return refuse('wallet_closed')
    book.move('fund', 'bank', wallet.id, body.amountEuros, { type: 'funding', id: newId('funding') })
    await book.post(sql)
    const record = await shown(wallet, context)
    emit('wallet.funded', about(wallet, record, body.amountEuros))
    return record
  },

  async close({ params }, context) {
    const { em, sql, emit, refuse } = context
    await openBook(sql, context, { wallets: [params.id] })
    const wallet = await lock(em, Wallet, params.id)
    if (!wallet) return refuse('wallet_not_found')
    if (wallet.kind === 'agent') return refuse('wallet_of_agent')
    const record = await shown(wallet, context)
    if (record.availableEuros + record.heldEuros > 0n) return refuse('wallet_not_empty')
    if (await em.count(Wallet, { parentWalletId: wallet.id, status: isOpen }))
      return refuse('wallet_has_children')
    if (!walletMachine.move(wallet, 'closed')) return refuse('wallet_closed')
    await closeAccount(sql, context, wallet.id)
    emit('wallet.closed', about(wallet, EMPTY))
    return withBalance(wallet, EMPTY)
  },
})

export const walletsArea = area(
  'Wallets',
  'Where an owner keeps money: each with a number of its own, each agent with one.',
  wallets,
  { entities: [Wallet], machines: [walletMachine] },
)
