import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { lock } from '../../kernel/database/entity.ts'
import { closeAccount, openAccount } from '../ledger/index.ts'
import type { WalletEvent } from './api.ts'
import { EMPTY, eventWithBalance } from './response.ts'
import { virtualIban } from './virtual-iban.ts'
import { Wallet, walletMachine } from './wallet.ts'

type Opening = Pick<
  Context<never, { 'wallet.created': typeof WalletEvent }>,
  'em' | 'sql' | 'tenant' | 'now' | 'ports' | 'emit'
>
type Members = Pick<Wallet, 'name'> &
  Partial<Pick<Wallet, 'id' | 'kind' | 'agentId' | 'parentWalletId' | 'metadata'>>

/** A wallet, its number and its account in the ledger. */
export async function openWallet(members: Members, context: Opening): Promise<Wallet> {
  const { em, sql, tenant, ports, emit } = context
  const [drawn] = await sql<{ number: bigint }>(`select nextval('wallet_numbers') as number`)
  const number = virtualIban(tenant.mode, ports.walletBank, drawn?.number ?? 0n)
  const wallet = em.create(Wallet, { ...members, ...number })
  await em.flush()
  await openAccount(sql, context, 'wallet', wallet.id)
  emit('wallet.created', eventWithBalance(wallet, EMPTY))
  return wallet
}

export const isOpen = { $ne: 'closed' } as const

/** Of a wallet what whoever moves money must know. */
export interface WalletRow extends Row {
  readonly id: string
  readonly status: Wallet['status']
  readonly agentId: string | null
  readonly iban: string | null
  readonly name: string
}

const KNOWN = `
select id, status, agent_id as "agentId", iban, name from wallets
where owner_id = $1 and mode = $2 and id = any($3::text[])`

/** Read once their accounts are locked: nobody freezes or closes a wallet without its account. */
export async function walletsById(
  sql: Sql,
  { ownerId, mode }: Tenant,
  ids: readonly string[],
): Promise<ReadonlyMap<string, WalletRow>> {
  const wallets = await sql<WalletRow>(KNOWN, [ownerId, mode, ids])
  return new Map(wallets.map(wallet => [wallet.id, wallet]))
}

/** Where an owner's money is when nothing is said: the oldest wallet that is open. */
export const mainWallet = ({ em }: Pick<Context, 'em'>): Promise<Wallet | null> =>
  em.findOne(Wallet, { kind: 'owner', status: isOpen }, { orderBy: { id: 'asc' } })

type Closing = Pick<
  Context<never, { 'wallet.closed': typeof WalletEvent }>,
  'em' | 'sql' | 'tenant' | 'now' | 'emit'
>

/** For good; its account must be empty, and be held by the caller. False where it was closed before. */
export async function closeWallet(id: string, context: Closing): Promise<boolean> {
  const wallet = await lock(context.em, Wallet, id)
  if (!wallet || !walletMachine.move(wallet, 'closed')) return false
  await closeAccount(context.sql, context, id)
  context.emit('wallet.closed', eventWithBalance(wallet, EMPTY))
  return true
}
