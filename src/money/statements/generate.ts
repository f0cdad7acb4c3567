import { findCustomer } from '../../identity/customers/index.ts'
import type { Mode, Tenant } from '../../kernel/contract/actor.ts'
import type { ContextOf } from '../../kernel/contract/operation.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { FOR_UPDATE } from '../../kernel/database/entity.ts'
import { addMs } from '../../values/clock.ts'
import type { Cents } from '../../values/money.ts'
import {
  type AccountFlow,
  addFlows,
  closeWalletPeriod,
  readAccountFlow,
  readWalletBalanceAt,
} from '../ledger/index.ts'
import type { statementsApi } from './api.ts'
import type { StatementRunInput } from './process.ts'
import { parseStatementPeriod, Statement, type StatementMonth, statementMachine } from './statement.ts'

/** A wallet's account, with its first past month that has entries and no final statement; null if there is none. */
interface AccountMonth extends Row {
  readonly accountId: string
  readonly ownerId: string
  readonly mode: Mode
  readonly walletId: string
  readonly period: string | null
}

type Due = AccountMonth & { readonly period: string }

/**
 * Months end by the tenant's clock. The last entry of an account updates it, so no later month is looked at. Each
 * other month costs as many index look-ups as its account's versions can be halved.
 */
const firstDueMonths = (accounts: string): string => `
select a.id as "accountId", a.owner_id as "ownerId", a.mode, a.wallet_id as "walletId",
  to_char(m.first at time zone 'UTC', 'YYYY-MM') as period
from (select id, owner_id, mode, wallet_id, created_at, updated_at from ledger_accounts
  where kind = 'wallet' and ${accounts}) as a
left join tenant_clocks c on (c.owner_id, c.mode) = (a.owner_id, a.mode)
left join lateral (
  select s.first from generate_series(date_trunc('month', a.created_at, 'UTC'),
    date_trunc('month', clock_timestamp() + coalesce(c.offset_ms, 0) * interval '1 millisecond', 'UTC')
      - interval '1 month', interval '1 month') as s (first)
  where not exists (select from statements k where (k.owner_id, k.mode, k.wallet_id, k.period, k.status)
      = (a.owner_id, a.mode, a.wallet_id, to_char(s.first at time zone 'UTC', 'YYYY-MM'), 'final'))
    and a.updated_at >= s.first
    and ledger_version_before(a.id, s.first) < ledger_version_before(a.id, s.first + interval '1 month')
  order by s.first limit 1
) as m on true`

const PAGE_SIZE = 250

const OF_ALL = `${firstDueMonths(`id > $1 order by id limit ${PAGE_SIZE}`)} order by a.id`
const OF_TENANT = `${firstDueMonths(`id > $1 and owner_id = $2 and mode = $3 order by id limit ${PAGE_SIZE}`)} order by a.id`
/** Tenants with a due month whose clock was moved. For all others, the monthly schedule starts the run. */
export const TENANTS_WITH_DUE_STATEMENTS_SQL = `
select t.owner_id as id, t.owner_id, t.mode, null::text as agent_id from tenant_clocks t
where exists (select from (${firstDueMonths('owner_id = t.owner_id and mode = t.mode')}) as l where period is not null)`

const ANY = `select 1 from (${firstDueMonths('owner_id = $1 and mode = $2')}) as l where period is not null limit 1`

/** The due months of one page of accounts, and the account after which the next page begins; null on the last page. */
export async function findDueStatementMonths(
  sql: Sql,
  { ownerId, mode, after = '' }: StatementRunInput,
): Promise<{ due: Due[]; next: string | null }> {
  const rows = await (ownerId
    ? sql<AccountMonth>(OF_TENANT, [after, ownerId, mode])
    : sql<AccountMonth>(OF_ALL, [after]))
  const next = rows.length < PAGE_SIZE ? null : (rows.at(-1)?.accountId ?? null)
  return { due: rows.filter((row): row is Due => row.period !== null), next }
}

export const isAnyStatementDue = async (sql: Sql, { ownerId, mode }: Tenant): Promise<boolean> =>
  (await sql(ANY, [ownerId, mode])).length > 0

type GenerateContext = ContextOf<typeof statementsApi.create>

interface Generation {
  readonly wallet: Account
  readonly period: string
  readonly current: Statement | null
}

interface Account {
  readonly id: string
  readonly iban: string | null
  readonly bic: string | null
}

interface StatementFigures extends AccountFlow {
  readonly accountId: string
  readonly openingCents: Cents
  readonly closingCents: Cents
  readonly beforeVersion: bigint
  readonly lastVersion: bigint
}

/**
 * Creates the statement of a month, or updates it. Seals a past month first: a posting in progress is then
 * booked after it, so the final statement remains true.
 */
export async function generateStatement(
  { wallet, period, current }: Generation,
  context: GenerateContext,
): Promise<Statement> {
  const { sql, tenant, now, queueStatement } = context
  if (current?.status === 'final') return current
  const month = parseStatementPeriod(period)
  const isOver = month.to <= now
  // The long read comes before the account is locked. The second one reads only what was booked since.
  let figures = await readFigures(sql, tenant, wallet.id, month, current)
  if (isOver) {
    queueStatement(closeWalletPeriod(sql, tenant, wallet.id, month.to))
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
  { from, to }: StatementMonth,
  earlier: StatementFigures | null,
): Promise<StatementFigures> {
  const [before, last] = await Promise.all([
    readWalletBalanceAt(sql, tenant, addMs(from, -1), walletId),
    readWalletBalanceAt(sql, tenant, addMs(to, -1), walletId),
  ])
  if (!before || !last) throw new Error(`${walletId}: a wallet without an account`)
  const entries = { accountId: last.id, after: before.version, upTo: last.version }
  const canContinue = earlier?.beforeVersion === before.version && earlier.lastVersion <= last.version
  const flow = canContinue
    ? addFlows(earlier, await readAccountFlow(sql, tenant, { ...entries, after: earlier.lastVersion }))
    : await readAccountFlow(sql, tenant, entries)
  return {
    ...flow,
    accountId: last.id,
    openingCents: before.posted,
    closingCents: last.posted,
    beforeVersion: before.version,
    lastVersion: last.version,
  }
}

/** Keeps the figures of a concurrent request if they are the same or newer. */
async function storeStatement(
  figures: StatementFigures & StatementMonth,
  { id: walletId, iban, bic }: Account,
  period: string,
  { em, tenant, emit }: GenerateContext,
  isOver: boolean,
): Promise<Statement> {
  const [stored, { name: holder }] = await Promise.all([
    em.findOne(Statement, { walletId, period }, FOR_UPDATE),
    findCustomer(em, tenant.ownerId),
  ])
  if (stored?.status === 'final') return stored
  if (stored && !isOver && figures.lastVersion <= stored.lastVersion) return stored
  const members = { ...figures, walletId, period, holder, iban, bic }
  const statement = stored ? Object.assign(stored, members) : em.create(Statement, members)
  if (isOver) statementMachine.move(statement, 'final')
  emit('bill.updated', statementEvent(statement))
  return statement
}

const statementEvent = ({ id, walletId, period, status, openingCents, closingCents }: Statement) => ({
  statementId: id,
  walletId,
  period,
  status,
  openingCents,
  closingCents,
})
