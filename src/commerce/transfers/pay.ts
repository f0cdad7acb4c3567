import type { Sql } from '../../kernel/database.ts'
import { newId } from '../../kernel/ids.ts'
import type { HandlerOf } from '../../kernel/operation.ts'
import { insertInto, type Table } from '../../kernel/rows.ts'
import { type Book, openBook, shortOf } from '../../money/ledger/ledger.ts'
import { type Known, walletsOf } from '../../money/wallets/wallets.ts'
import type { transfersApi } from './api.ts'
import { type Transfer, transferMachine } from './transfer.ts'

type Create = HandlerOf<typeof transfersApi.create>
type Asked = Parameters<Create['decide']>[0]

/** A transfer without its entity: what a group commit decides and writes. */
type TransferRow = Omit<Transfer, 'parts'>

const table: Table<TransferRow> = {
  name: 'transfers',
  columns: {
    id: ['id', 'text'],
    ownerId: ['owner_id', 'text'],
    mode: ['mode', 'text'],
    createdAt: ['created_at', 'timestamptz'],
    updatedAt: ['updated_at', 'timestamptz'],
    fromWalletId: ['from_wallet_id', 'text'],
    toWalletId: ['to_wallet_id', 'text'],
    kind: ['kind', 'text'],
    amountEuros: ['amount_cents', 'bigint'],
    reference: ['reference', 'text'],
    status: ['status', 'text'],
    completedAt: ['completed_at', 'timestamptz'],
  },
}
const insertTransfers = insertInto(table)

/** The accounts, the wallets, and what has been decided so far. */
interface Desk {
  readonly book: Book
  readonly wallets: ReadonlyMap<string, Known>
  readonly made: TransferRow[]
}

/** The accounts are locked before the wallets are read: who freezes a wallet holds its account. */
async function load(items: readonly Asked[], sql: Sql): Promise<Desk> {
  const { tenant, now } = items[0] as Asked
  const ids = [...new Set(items.flatMap(({ input: { body } }) => [body.fromWalletId, body.toWalletId]))]
  const book = await openBook(sql, { tenant, now }, { wallets: ids })
  return { book, wallets: await walletsOf(sql, tenant, ids), made: [] }
}

const transferFrom = ({ input: { body }, tenant, now }: Asked): TransferRow => ({
  ...body,
  ...tenant,
  id: newId('transfer'),
  createdAt: now,
  updatedAt: now,
  kind: 'internal',
  status: transferMachine.initial,
  completedAt: now,
})

/** Wallet to wallet is hot: thousands a second, on few wallets. */
export const pay: Create = {
  load,
  decide(item, { book, wallets, made }: Desk, { emit, refuse }) {
    const { fromWalletId, toWalletId, amountEuros } = item.input.body
    const [from, to] = [wallets.get(fromWalletId), wallets.get(toWalletId)]
    if (!from || !to) return refuse('wallet_not_found')
    if (from === to) return refuse('same_wallet')
    if (from.status === 'closed' || to.status === 'closed') return refuse('wallet_closed')
    if (from.status === 'frozen') return refuse('wallet_frozen')
    if (!book.canPay(from.id, amountEuros))
      return refuse('insufficient_funds', shortOf(amountEuros, book.available(from.id)))
    const transfer = transferFrom(item)
    transferMachine.move(transfer, 'completed')
    book.move('transfer', from.id, to.id, amountEuros, { type: 'transfer', id: transfer.id })
    made.push(transfer)
    emit('transfer.completed', aboutTransfer(transfer))
    return { ...transfer, parts: null }
  },
  async write({ book, made }: Desk, sql) {
    await insertTransfers(sql, made)
    await book.post(sql)
  },
}

/** What the world is told of a transfer. */
export const aboutTransfer = ({ id, fromWalletId, toWalletId, status, amountEuros }: TransferRow) => ({
  transferId: id,
  fromWalletId,
  toWalletId,
  status,
  amountEuros,
})
