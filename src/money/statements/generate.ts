import { LockMode } from '@mikro-orm/core'
import { findCustomer } from '../../identity/customers/index.ts'
import type { Tenant } from '../../kernel/contract/actor.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { after } from '../../values/clock.ts'
import type { Euros } from '../../values/money.ts'
import { addFlows, type Flow, flowOf, sealWallet, walletBalanceAt } from '../ledger/index.ts'
import type { statementsApi } from './api.ts'
import { type Month, monthOf, Statement, statementMachine } from './statement.ts'

type Making = ContextOf<typeof statementsApi.create>

/** Of a wallet what stands on its statement. */
interface Account {
  readonly id: string
  readonly iban: string | null
  readonly bic: string | null
}

/** What a ledger says of a month. */
interface StatementFigures extends Flow {
  readonly accountId: string
  readonly openingEuros: Euros
  readonly closingEuros: Euros
  readonly beforeVersion: bigint
  readonly lastVersion: bigint
}

/**
 * The statement of a month, made or brought up to date. One that is over is sealed first: whoever still has a posting
 * of yesterday in hand books it today, and so what has been drawn up stays true.
 */
export async function generateStatement(
  wallet: Account,
  period: string,
  context: Making,
): Promise<Statement> {
  const { em, sql, tenant, now } = context
  const known = await em.findOne(Statement, { walletId: wallet.id, period })
  if (known?.status === 'final') return known
  const month = monthOf(period)
  const isOver = month.to <= now
  // The long way before anybody is held up, and what has come since after it.
  let drawn = await readFigures(sql, tenant, wallet.id, month, known)
  if (isOver) {
    await sealWallet(sql, tenant, wallet.id, month.to)
    drawn = await readFigures(sql, tenant, wallet.id, month, drawn)
  }
  return storeStatement(
    { ...drawn, from: month.from, to: isOver ? month.to : now },
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
  known: StatementFigures | null,
): Promise<StatementFigures> {
  const before = await walletBalanceAt(sql, tenant, after(from, -1), walletId)
  const last = await walletBalanceAt(sql, tenant, after(to, -1), walletId)
  if (!before || !last) throw new Error(`${walletId}: a wallet without an account`)
  const span = { accountId: last.id, after: before.version, upTo: last.version }
  const isPart = known?.beforeVersion === before.version && known.lastVersion <= last.version
  const flow = isPart
    ? addFlows(known, await flowOf(sql, { ...span, after: known.lastVersion }))
    : await flowOf(sql, span)
  return {
    ...flow,
    accountId: last.id,
    openingEuros: before.posted,
    closingEuros: last.posted,
    beforeVersion: before.version,
    lastVersion: last.version,
  }
}

/** Whoever was faster has seen as much, or more. */
async function storeStatement(
  drawn: StatementFigures & Month,
  { id: walletId, iban, bic }: Account,
  period: string,
  { em, tenant, emit }: Pick<Making, 'em' | 'tenant' | 'emit'>,
  isOver: boolean,
): Promise<Statement> {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true }
  const kept = await em.findOne(Statement, { walletId, period }, locked)
  if (kept?.status === 'final') return kept
  if (kept && !isOver && drawn.lastVersion <= kept.lastVersion) return kept
  const { name: holder } = await findCustomer(em, tenant.ownerId)
  const members = { ...drawn, walletId, period, holder, iban, bic }
  const statement = kept ? Object.assign(kept, members) : em.create(Statement, members)
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
