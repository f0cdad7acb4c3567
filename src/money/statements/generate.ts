import { findCustomer } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { after } from '../../values/clock.ts'
import type { Euros } from '../../values/money.ts'
import { addFlows, type Flow, flowOf, sealWallet, walletBalanceAt } from '../ledger/index.ts'
import type { statementsApi } from './api.ts'
import { type Month, monthOf, Statement, statementMachine } from './statement.ts'

type GenerateContext = ContextOf<typeof statementsApi.create>

/** The statement to generate, and the one that there is already. */
interface Generation {
  readonly wallet: Account
  readonly period: string
  readonly current: Statement | null
}

/** The part of a wallet that its statement shows. */
interface Account {
  readonly id: string
  readonly iban: string | null
  readonly bic: string | null
}

/** The ledger's figures for a month. */
interface StatementFigures extends Flow {
  readonly accountId: string
  readonly openingEuros: Euros
  readonly closingEuros: Euros
  readonly beforeVersion: bigint
  readonly lastVersion: bigint
}

/**
 * Creates the statement of a month, or updates it. A month that is over is sealed first: a posting still in progress is
 * then booked after it, so the final statement stays true.
 */
export async function generateStatement(
  { wallet, period, current }: Generation,
  context: GenerateContext,
): Promise<Statement> {
  const { sql, tenant, now, sendAlong } = context
  if (current?.status === 'final') return current
  const month = monthOf(period)
  const isOver = month.to <= now
  // The long read comes before the account is locked; the second one reads only what was booked since.
  let figures = await readFigures(sql, tenant, wallet.id, month, current)
  if (isOver) {
    sendAlong(sealWallet(sql, tenant, wallet.id, month.to))
    figures = await readFigures(sql, tenant, wallet.id, month, figures)
  }
  return storeStatement(
    { ...figures, from: month.from, to: isOver ? month.to : now },
    wallet,
    period,
    context,
    isOver,
  )
}

async function readFigures(
  sql: Sql,
  tenant: Tenant,
  walletId: string,
  { from, to }: Month,
  earlier: StatementFigures | null,
): Promise<StatementFigures> {
  const [before, last] = await Promise.all([
    walletBalanceAt(sql, tenant, after(from, -1), walletId),
    walletBalanceAt(sql, tenant, after(to, -1), walletId),
  ])
  if (!before || !last) throw new Error(`${walletId}: a wallet without an account`)
  const entries = { accountId: last.id, after: before.version, upTo: last.version }
  const canContinue = earlier?.beforeVersion === before.version && earlier.lastVersion <= last.version
  const flow = canContinue
    ? addFlows(earlier, await flowOf(sql, tenant, { ...entries, after: earlier.lastVersion }))
    : await flowOf(sql, tenant, entries)
  return {
    ...flow,
    accountId: last.id,
    openingEuros: before.posted,
    closingEuros: last.posted,
    beforeVersion: before.version,
    lastVersion: last.version,
  }
}

/** Stores the figures, unless a concurrent request has stored the same or newer ones. */
async function storeStatement(
  figures: StatementFigures & Month,
  { id: walletId, iban, bic }: Account,
  period: string,
  { records, tenant, emit }: Pick<GenerateContext, 'records' | 'tenant' | 'emit'>,
  isOver: boolean,
): Promise<Statement> {
  const locked = { lock: true }
  const [stored, { name: holder }] = await Promise.all([
    records.findOne(Statement, { walletId, period }, locked),
    findCustomer(records, tenant.ownerId),
  ])
  if (stored?.status === 'final') return stored
  if (stored && !isOver && figures.lastVersion <= stored.lastVersion) return stored
  const members = { ...figures, walletId, period, holder, iban, bic }
  const statement = stored ? Object.assign(stored, members) : records.create(Statement, members)
  if (isOver) statementMachine.move(statement, 'final')
  emit('bill.updated', statementEvent(statement))
  return statement
}

const statementEvent = ({ id, walletId, period, status, openingEuros, closingEuros }: Statement) => ({
  statementId: id,
  walletId,
  period,
  status,
  openingEuros,
  closingEuros,
})
