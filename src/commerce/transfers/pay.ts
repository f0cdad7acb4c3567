import { openPurse, type Purse } from '../../control/agent-tokens/index.ts'
import { type IntentRow, openPayments, type Payments } from '../../control/intents/index.ts'
import { sepaText } from '../../iso20022/sepa-charset.ts'
import type { Mode, TenantNow } from '../../kernel/contract/actor.ts'
import type { Item } from '../../kernel/contract/handlers.ts'
import type { Ports } from '../../kernel/contract/ports.ts'
import { Problem } from '../../kernel/contract/problem.ts'
import { workflowIdOf } from '../../kernel/contract/process.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { type PayeeRow, payeesById } from '../../money/beneficiaries/index.ts'
import { type Book, openBook, shortfallText } from '../../money/ledger/index.ts'
import {
  completedTransaction,
  insertTransactions,
  type TransactionRow,
} from '../../money/transactions/index.ts'
import { type WalletRow, walletsById } from '../../money/wallets/index.ts'
import { after } from '../../values/clock.ts'
import { newId } from '../../values/ids.ts'
import type { Euros } from '../../values/money.ts'
import { LONGEST_REFERENCE } from './api.ts'
import { transferEvent } from './events.ts'
import { type Asked, type Create, hindrance, tokenOf, type Verdict } from './intent-checks.ts'
import { dayOf, excess, type Limits, limitsOf, lockDay, takeOfDay } from './limits/limits.ts'
import { transferProcess } from './process.ts'
import { UNATTENDED } from './sepa/sepa-transfer.ts'
import { transferMachine } from './transfer.ts'
import { insertTransfers, type TransferRow, unset } from './transfer-rows.ts'

/** What leaving by SEPA takes: whom it may reach, how much of the day is used, and a rail. */
interface Exit {
  readonly payees: ReadonlyMap<string, PayeeRow>
  readonly limits: Limits
  readonly day: string
  used: Euros
  taken: Euros
  /** Why there is no rail. */
  readonly closed: string | undefined
}

/** The accounts, the wallets, and what has been decided so far. */
interface Desk {
  readonly exit: Exit | undefined
  readonly book: Book
  readonly wallets: ReadonlyMap<string, WalletRow>
  readonly payments: Payments
  readonly purse: Purse
  readonly made: TransferRow[]
  readonly paid: TransactionRow[]
}

/**
 * The accounts before the wallets are read, and before the limit of the day: who freezes a wallet holds its account, and
 * then gives back what its transfers have taken of their days.
 */
async function load(items: readonly Asked[], sql: Sql, ports: Ports): Promise<Desk> {
  const { tenant, now } = items[0] as Asked
  const intentIds = items.flatMap(({ input: { body } }) => body.intentId ?? [])
  const payments = await openPayments(sql, { tenant, now }, intentIds)
  const purse = await openPurse(
    sql,
    tenant,
    items.flatMap(({ actor }) => actor.budgetId ?? []),
  )
  const named = items.flatMap(({ input: { body } }) => [body.fromWalletId, body.toWalletId ?? []].flat())
  const ids = [...new Set(named)]
  const book = await openBook(sql, { tenant, now }, { wallets: ids, holds: payments.holds })
  const exit = await exitFor(items, sql, ports)
  await payments.lock(sql)
  return { exit, book, payments, purse, wallets: await walletsById(sql, tenant, ids), made: [], paid: [] }
}

/** Undefined where nobody leaves. */
async function exitFor(items: readonly Asked[], sql: Sql, ports: Ports): Promise<Exit | undefined> {
  const { tenant, now } = items[0] as Asked
  const ids = items.flatMap(({ input }) => input.body.beneficiaryId ?? [])
  if (ids.length === 0) return undefined
  const day = dayOf(now)
  const [limits, payees] = [await limitsOf(sql, tenant), await payeesById(sql, tenant, ids)]
  if (!limits) throw new Error('a key without a customer')
  const used = await lockDay(sql, tenant, day)
  return { payees, limits, day, used, taken: 0n, closed: whyNoRail(ports, tenant.mode) }
}

function whyNoRail(ports: Ports, mode: Mode): string | undefined {
  try {
    ports.sepaRail(mode)
    return undefined
  } catch (error) {
    if (error instanceof Problem) return error.message
    throw error
  }
}

const begun = (
  { input: { body }, tenant, now }: Item<Asked['input']>,
  from: WalletRow,
  intent: IntentRow | undefined,
): TransferRow => ({
  ...tenant,
  id: newId('transfer'),
  createdAt: now,
  updatedAt: now,
  agentId: from.agentId,
  fromWalletId: from.id,
  toWalletId: body.toWalletId ?? null,
  beneficiaryId: body.beneficiaryId ?? null,
  intentId: body.intentId ?? null,
  tokenId: null,
  delegationId: intent?.delegationId ?? null,
  kind: 'internal',
  scheme: null,
  amountEuros: body.amountEuros,
  reference: body.reference,
  endToEndId: null,
  payee: null,
  status: transferMachine.initial,
  countedOn: null,
  inquiries: 0,
  dueAt: null,
  completedAt: null,
  transactionId: null,
  workflowId: null,
})

const payer = ({ input }: Asked, { wallets }: Desk) => wallets.get(input.body.fromWalletId)

/** Takes it of the budget of the token that it is paid with. */
function charge({ input, actor }: Asked, intent: IntentRow | undefined, { purse }: Desk): string | null {
  const token = intent ? tokenOf(actor, intent) : null
  if (token) purse.take(token, input.body.amountEuros)
  return token
}

/** Wallet to wallet: it is there with the answer. */
function payWallet(item: Asked, desk: Desk, verdict: Verdict) {
  const { emit, refuse } = verdict
  const { book, wallets, made, payments } = desk
  const intent = payments.find(item.input.body.intentId)
  const { toWalletId, amountEuros } = item.input.body
  const [from, to] = [payer(item, desk), wallets.get(String(toWalletId))]
  if (!from || !to) return refuse('wallet_not_found')
  if (from === to) return refuse('same_wallet')
  if (from.status === 'closed' || to.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  if (!intent && !book.canPay(from.id, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(from.id)))
  const transfer = {
    ...begun(item, from, intent),
    tokenId: charge(item, intent, desk),
    completedAt: item.now,
  }
  transferMachine.move(transfer, 'completed')
  if (intent) complete(transfer, intent, item, desk, verdict)
  else book.move('transfer', from.id, to.id, amountEuros, { type: 'transfer', id: transfer.id })
  made.push(transfer)
  emit('transfer.completed', transferEvent(transfer))
  return { ...transfer, ...unset }
}

/** The one payment of an intent, out of what is held for it. */
function complete(
  transfer: TransferRow,
  intent: IntentRow,
  { tenant, now }: TenantNow,
  { book, payments, paid }: Desk,
  verdict: Verdict,
): void {
  const { id, fromWalletId: walletId, toWalletId, amountEuros } = transfer
  const { agentId, runId, merchant, mcc, country } = intent
  const about = { agentId, intentId: intent.id, transferId: id, runId, merchant, mcc, country }
  const transaction = completedTransaction(
    { type: 'transfer', walletId, amountEuros, ...about },
    { tenant, now },
    verdict,
  )
  transfer.transactionId = transaction.id
  paid.push(transaction)
  const cause = { type: 'transfer', id }
  const payment = { kind: 'transfer', to: String(toWalletId), amountEuros, cause } as const
  payments.complete(intent, { ...payment, transactionId: transaction.id }, book, verdict)
}

/** By SEPA: the money is held, the day's limit taken, and the process begins with the commit. */
function payBeneficiary(item: Asked, desk: Desk, exit: Exit, { emit, refuse, wake }: Verdict) {
  const { book, made, payments } = desk
  const intent = payments.find(item.input.body.intentId)
  const { beneficiaryId, amountEuros, scheme = 'sct', reference } = item.input.body
  const [from, payee] = [payer(item, desk), exit.payees.get(String(beneficiaryId))]
  if (!from) return refuse('wallet_not_found')
  if (!payee) return refuse('beneficiary_not_found')
  if (exit.closed) return refuse('sepa_rail_missing', exit.closed)
  if (from.status === 'closed') return refuse('wallet_closed')
  if (from.status === 'frozen') return refuse('wallet_frozen')
  const above = excess(exit.limits, exit.used, amountEuros)
  if (above) return refuse(...above)
  if (!intent && !book.canPay(from.id, amountEuros))
    return refuse('insufficient_funds', shortfallText(amountEuros, book.available(from.id)))
  const { name, sepaName, iban, bic } = payee
  const start = begun(item, from, intent)
  const transfer: TransferRow = {
    ...start,
    tokenId: charge(item, intent, desk),
    kind: 'sepa',
    scheme,
    reference: reference && sepaText(reference, LONGEST_REFERENCE),
    endToEndId: start.id.replace('transfer_', ''),
    payee: { name, sepaName, iban, bic },
    countedOn: exit.day,
    dueAt: after(item.now, UNATTENDED),
    workflowId: workflowIdOf(transferProcess, start.id),
  }
  exit.used += amountEuros
  exit.taken += amountEuros
  if (intent) payments.begin(intent, transfer.id)
  else book.hold(from.id, amountEuros, { type: 'transfer', id: transfer.id })
  made.push(transfer)
  emit('payment.updated', transferEvent(transfer))
  wake(transferProcess, transfer)
  return { ...transfer, ...unset }
}

/** Hot either way: thousands a second, on few wallets. */
export const pay: Create = {
  load,
  decide(item, desk: Desk, verdict) {
    const hindered = hindrance(item, desk, verdict)
    if (hindered) return hindered
    return desk.exit && item.input.body.beneficiaryId !== undefined
      ? payBeneficiary(item, desk, desk.exit, verdict)
      : payWallet(item, desk, verdict)
  },
  async write({ exit, book, payments, made, paid }: Desk, sql) {
    const tenant = made[0]
    if (!tenant) return
    if (exit && exit.taken > 0n) await takeOfDay(sql, tenant, exit.day, exit.taken)
    await insertTransfers(sql, made)
    await insertTransactions(sql, paid)
    await payments.write(sql)
    await book.post(sql)
  },
}
