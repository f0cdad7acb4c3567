import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { ReadContext, WriteContext } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { closeLedgerAccount, lockBook, openWalletAccount } from '../ledger/index.ts'
import type { WalletEvent } from './api.ts'
import { walletEventWithBalance, ZERO_BALANCE } from './response.ts'
import { Wallet, walletMachine } from './wallet.ts'

interface WalletBank {
  readonly code: string
  readonly bic: string
}

/** `DE` as digits by ISO 13616, and two zeros in place of the check digits. */
const DE00 = '131400'

/**
 * Only for test wallets. Live wallets have no IBAN until a bank provides virtual IBANs, since money sent to
 * them would be lost.
 */
export function newVirtualIban(
  mode: Mode,
  { code, bic }: WalletBank,
  number: bigint,
): { iban: string; bic: string } | { iban: null; bic: null } {
  if (mode === 'live') return { iban: null, bic: null }
  const account = code + String(number).padStart(10, '0')
  const check = 98n - (BigInt(account + DE00) % 97n)
  return { iban: `DE${String(check).padStart(2, '0')}${account}`, bic }
}
type Members = Pick<Wallet, 'name'> &
  Partial<Pick<Wallet, 'id' | 'kind' | 'agentId' | 'cardId' | 'parentWalletId' | 'metadata'>>

/**
 * Opens a wallet with its IBAN and its account in the ledger. The purse of a card has no IBAN, since its
 * owner funds it.
 */
export async function openWallet(
  members: Members,
  context: WriteContext<{ 'wallet.created': typeof WalletEvent }>,
): Promise<Wallet> {
  const { em, sql, emit, queueStatement } = context
  const number = members.kind === 'card' ? NO_IBAN : await nextIban(context)
  const wallet = em.create(Wallet, { ...members, ...number })
  queueStatement(openWalletAccount(sql, context, wallet.id))
  emit('wallet.created', walletEventWithBalance(wallet, ZERO_BALANCE))
  return wallet
}

const NO_IBAN = { iban: null, bic: null }

async function nextIban({ sql, tenant, settings }: WriteContext) {
  const [sequence] = await sql<{ number: bigint }>(`select nextval('wallet_numbers') as number`)
  return newVirtualIban(tenant.mode, settings.walletBank, sequence?.number ?? 0n)
}

export const walletNotClosed = { $ne: 'closed' } as const

export interface WalletRow extends Row {
  readonly id: string
  readonly kind: Wallet['kind']
  readonly status: Wallet['status']
  readonly agentId: string | null
  readonly iban: string | null
  readonly name: string
}

const WALLETS = `
select id, kind, status, agent_id as "agentId", iban, name from wallets
where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** Reads after locking the accounts. Freezing and closing lock them too, so the status is then certain. */
export async function walletsById(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WalletRow>> {
  const wallets = await sql<WalletRow>(WALLETS, [ownerId, mode, ids])
  return new Map(wallets.map(wallet => [wallet.id, wallet]))
}

export const firstOpenWallet = (
  ids: readonly (string | null | undefined)[],
  wallets: ReadonlyMap<string, Pick<WalletRow, 'status'>>,
): string | null => ids.find(id => (wallets.get(id ?? '')?.status ?? 'closed') !== 'closed') ?? null

export const findMainWallet = ({ em }: ReadContext): Promise<Wallet | null> =>
  em.findOne(Wallet, { kind: 'owner', status: walletNotClosed }, { orderBy: { id: 'asc' } })

export async function findOnlyOpenWallet({ em }: ReadContext): Promise<Wallet | 'several' | undefined> {
  const [wallet, other] = await em.find(
    Wallet,
    { kind: 'owner', status: walletNotClosed },
    { orderBy: { id: 'asc' }, limit: 2 },
  )
  return other ? 'several' : wallet
}

const MAIN_WALLET = `
select id from wallets
where owner_id = $1 and mode = $2 and kind = 'owner' and status <> 'closed'
order by id limit 1`

/** The main wallet, for statements that lock its account; undefined if the owner has none. */
export async function findMainWalletId(sql: Sql, { ownerId, mode }: Tenant): Promise<string | undefined> {
  const [wallet] = await sql<Row & { id: string }>(MAIN_WALLET, [ownerId, mode])
  return wallet?.id
}

const IN_PLACE = `
select w.id from wallets w
where w.owner_id = $1 and w.mode = $2 and w.kind = 'owner' and w.status <> 'closed' and exists (
  select from wallets c where c.owner_id = $1 and c.mode = $2 and c.id = $3 and c.status = 'closed')
order by w.id limit 1`

/**
 * The owner's wallet that gets refunds to a closed one. Null if this one is open, or the owner has none. A
 * closed wallet stays closed, so it is read before any account is locked.
 */
export async function findReplacementWallet(
  sql: Sql,
  { ownerId, mode }: Tenant,
  walletId: string,
): Promise<string | null> {
  const [wallet] = await sql<Row & { id: string }>(IN_PLACE, [ownerId, mode, walletId])
  return wallet?.id ?? null
}

/** The caller has locked its account, which must be empty. False if it is already closed. */
export async function closeWallet(
  id: string,
  context: WriteContext<{ 'wallet.closed': typeof WalletEvent }>,
): Promise<boolean> {
  const wallet = await context.em.findOne(Wallet, { id }, FOR_UPDATE)
  if (!wallet || !walletMachine.move(wallet, 'closed')) return false
  context.queueStatement(closeLedgerAccount(context.sql, context, id))
  context.emit('wallet.closed', walletEventWithBalance(wallet, ZERO_BALANCE))
  return true
}

const NOT_CLOSED = `
select id from wallets where owner_id = $1 and mode = $2 and status <> 'closed' order by id`

/**
 * Later receipts stay in suspense. Returns false and changes nothing if a wallet has money or debts; the
 * locks guarantee that this stays true.
 */
export async function closeAllWallets(
  context: WriteContext<{ 'wallet.closed': typeof WalletEvent }>,
): Promise<boolean> {
  const { sql, tenant } = context
  const found = await sql<Row & { id: string }>(NOT_CLOSED, [tenant.ownerId, tenant.mode])
  const ids = found.map(({ id }) => id)
  const book = await lockBook(sql, context, { wallets: ids })
  const isEmpty = (id: string): boolean => {
    const { posted, held } = book.balance(id)
    return posted === 0n && held === 0n
  }
  if (!ids.every(isEmpty)) return false
  await Promise.all(ids.map(id => closeWallet(id, context)))
  return true
}
