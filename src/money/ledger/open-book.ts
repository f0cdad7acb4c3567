import type { Tenant, TenantNow } from '../../kernel/contract/actor.ts'
import type { Context } from '../../kernel/contract/context.ts'
import type { RefusalSpec } from '../../kernel/contract/operation.ts'
import type { Refusal } from '../../kernel/contract/problem.ts'
import type { Sql } from '../../kernel/contract/sql.ts'
import { atLeastZero, type Cents, formatMoney, negateCents, subtractCents } from '../../values/money.ts'
import { type LedgerAccountKind, openMissingLedgerAccounts } from './account.ts'
import {
  type LedgerAccountKey,
  LockedBook,
  type LockedLedgerAccount,
  type OpenLedgerHold,
  type PostingCause,
} from './book.ts'
import type { PostingTemplate } from './templates.ts'

export const FORCED_DEBIT_ACCOUNTS = [
  'bank',
  'advance',
  'receivable',
] as const satisfies readonly LedgerAccountKind[]
export const DEBT_ACCOUNTS = ['advance', 'receivable'] as const satisfies readonly LedgerAccountKind[]

/** The contents of a book: wallets by id, other accounts by kind (opened if missing), holds by cause. */
export interface BookAccounts {
  readonly wallets: readonly string[]
  readonly others?: readonly LedgerAccountKind[]
  readonly ifExists?: readonly LedgerAccountKind[]
  readonly holds?: readonly PostingCause[]
  /** Wallets of other owners that this transaction pays, or that pay it. Their accounts are locked as well. */
  readonly otherOwners?: readonly WalletsOfOtherOwner[]
}

export interface WalletsOfOtherOwner {
  readonly ownerId: string
  readonly walletIds: readonly string[]
}

export const OWNER_TRANSFER_ACCOUNTS = { others: ['bank', 'suspense'], ifExists: DEBT_ACCOUNTS } as const

/**
 * Locks accounts in the order of their ids. `any(array(…))` evaluates the ids once: PostgreSQL evaluates a
 * subquery again after it has waited for a lock, and would then miss the account.
 */
const LOCK = `
select id, kind, wallet_id as "walletId", posted_cents as posted, held_cents as held, frozen
from ledger_accounts where owner_id = $1 and mode = $2 and id = any(array(
  select id from ledger_accounts where owner_id = $1 and mode = $2 and wallet_id = any($3::text[])
  union all
  select id from ledger_accounts where owner_id = $1 and mode = $2 and currency = 'EUR' and kind = any($4::text[])
    and wallet_id is null))
order by id for update`

const HOLDS = `
select h.id, h.account_id as "accountId", h.reference_type as "referenceType", h.reference_id as "referenceId",
  h.remaining_cents as remaining
from unnest($3::text[], $4::text[]) as c (type, id)
cross join lateral (
  select * from ledger_holds l
  where (l.owner_id, l.mode, l.reference_type, l.reference_id) = ($1, $2, c.type, c.id) offset 0) as h`

/**
 * Opens a book with these accounts locked, and omits wallets of other tenants. Sends all statements at once,
 * so that later ones run after the locks. Accounts of several owners are locked in the order of the owners.
 */
export async function lockBook(
  sql: Sql,
  { tenant, now }: TenantNow,
  { wallets, others = [], ifExists = [], holds = [], otherOwners = [] }: BookAccounts,
): Promise<LockedBook> {
  const lockAll = (others: typeof otherOwners) => others.map(other => lockOthers(sql, { tenant, now }, other))
  const foreign = byOwner(otherOwners).filter(({ ownerId }) => ownerId !== tenant.ownerId)
  const before = lockAll(foreign.filter(({ ownerId }) => ownerId < tenant.ownerId))
  const accounts = lockAccounts(sql, { tenant, now }, { wallets, others, ifExists })
  const after = lockAll(foreign.filter(({ ownerId }) => ownerId > tenant.ownerId))
  const held = openHolds(sql, tenant, holds)
  await Promise.all([...before, accounts, ...after, held])
  return new LockedBook(tenant, now, await accounts, await held)
}

const byOwner = (wallets: readonly WalletsOfOtherOwner[]): WalletsOfOtherOwner[] =>
  [...Map.groupBy(wallets, ({ ownerId }) => ownerId)]
    .map(([ownerId, all]) => ({ ownerId, walletIds: all.flatMap(({ walletIds }) => walletIds) }))
    .toSorted((one, other) => (one.ownerId < other.ownerId ? -1 : 1))

async function lockAccounts(
  sql: Sql,
  { tenant, now }: TenantNow,
  { wallets, others, ifExists }: Required<Pick<BookAccounts, 'wallets' | 'others' | 'ifExists'>>,
): Promise<LockedLedgerAccount[]> {
  const values = [tenant.ownerId, tenant.mode, [...new Set(wallets)], [...others, ...ifExists]]
  const [, accounts] = await Promise.all([
    openMissingLedgerAccounts(sql, { tenant, now }, others),
    sql<LockedLedgerAccount>(LOCK, values),
  ])
  return accounts
}

/** Locks the accounts that receiving from another owner needs. An operation of that owner books the money. */
const lockOthers = (
  sql: Sql,
  { tenant: { mode }, now }: TenantNow,
  { ownerId, walletIds }: WalletsOfOtherOwner,
) => lockAccounts(sql, { tenant: { ownerId, mode }, now }, { wallets: walletIds, ...OWNER_TRANSFER_ACCOUNTS })

const openHolds = async (
  sql: Sql,
  { ownerId, mode }: Tenant,
  holds: readonly PostingCause[],
): Promise<OpenLedgerHold[]> =>
  holds.length === 0
    ? []
    : sql<OpenLedgerHold>(HOLDS, [ownerId, mode, holds.map(({ type }) => type), holds.map(({ id }) => id)])

export const recordedPaymentRefusals = {
  customer_not_found: [404, 'ownerId: no such customer.'],
  reference_used: [
    409,
    'reference: another payment is already booked under it. Use the reference of this one.',
  ],
} as const satisfies Record<string, RefusalSpec>

interface RecordedPayment extends Tenant {
  readonly amountCents: Cents
  readonly reference: string
}

interface Posting {
  readonly kind: PostingTemplate
  readonly causeType: string
  readonly accounts: readonly LedgerAccountKind[]
}

interface Opened {
  readonly book: LockedBook
  readonly cause: PostingCause
  /** The same payment is already booked: the answer is repeated, and no money moves. */
  readonly isBooked: boolean
}

const POSTED = `
select max(e.amount_cents) as "amountCents" from ledger_transfers t
cross join unnest(t.entry_accounts, t.entry_versions) as one (account_id, version)
join ledger_entries e on (e.owner_id, e.mode, e.account_id, e.version) = ($1, $2, one.account_id, one.version)
where (t.owner_id, t.mode, t.reference_id, t.reference_type, t.kind) = ($1, $2, $3, $4, $5)`

/** The amount moved for the cause, or null. Reads once the accounts are locked, so the amount is final. */
async function postedCents(
  sql: Sql,
  { ownerId, mode }: Tenant,
  { kind }: Posting,
  { type, id }: PostingCause,
): Promise<Cents | null> {
  const [row] = await sql<{ amountCents: Cents | null }>(POSTED, [ownerId, mode, id, type, kind])
  return row?.amountCents ?? null
}

/** Opens the ledger of the owner for a payment that is booked once per reference, and never with two amounts. */
export async function openBookForRecordedPayment(
  { ownerId, mode, amountCents, reference }: RecordedPayment,
  posting: Posting,
  context: Context<keyof typeof recordedPaymentRefusals>,
): Promise<Opened | Refusal> {
  const { sql, refuse } = context
  const [customer] = await sql('select id from customers where id = $1', [ownerId])
  if (!customer) return refuse('customer_not_found')
  const tenant = { ownerId, mode }
  context.switchTenant(tenant)
  const cause = { type: posting.causeType, id: reference }
  const [book, booked] = await Promise.all([
    lockBook(sql, context, { wallets: [], others: posting.accounts }),
    postedCents(sql, tenant, posting, cause),
  ])
  if (booked !== null && booked !== amountCents) return refuse('reference_used', otherAmount(booked))
  return { book, cause, isBooked: booked !== null }
}

const otherAmount = (booked: Cents): string =>
  `reference: ${formatMoney(booked)} is already booked under it for this owner. Use the reference of this payment, or the booked amount.`

export const ACQUIRER_ACCOUNTS = [
  'bank',
  'advance',
  'clearing_acquirer',
] as const satisfies readonly LedgerAccountKind[]

type Collecting = 'collect' | 'collect_unmatched' | 'collect_settle' | 'collect_refund'

interface Collected {
  readonly from: LedgerAccountKey
  readonly to: LedgerAccountKey
  readonly amountCents: Cents
  readonly cause: PostingCause
}

/** The acquirer's outstanding amount; zero if it has paid more than remained after refunds. */
const owedByAcquirer = (book: LockedBook): Cents => atLeastZero(book.available('clearing_acquirer'))

/**
 * Posts charges, payments and refunds of an acquirer. The owner has the money at once and the bank only
 * later. Until then the platform advances it, so that the bank covers all debits of the wallets.
 */
export const postAcquirerMovement = (
  kind: Collecting,
  { from, to, amountCents, cause }: Collected,
  book: LockedBook,
): void => keepAdvanced(cause, book, () => book.move(kind, from, to, amountCents, cause))

/** What the acquirer has to take back, even from a wallet without the money. Returns what the owner owes then. */
export const postAcquirerChargeback = (
  { from, amountCents, cause }: Omit<Collected, 'to'>,
  book: LockedBook,
): Cents =>
  keepAdvanced(cause, book, () =>
    book.forceDebit('collect_chargeback', from, 'clearing_acquirer', amountCents, cause),
  )

function keepAdvanced<T>(cause: PostingCause, book: LockedBook, move: () => T): T {
  const before = owedByAcquirer(book)
  const moved = move()
  const change = subtractCents(owedByAcquirer(book), before)
  if (change > 0n) book.move('advance', 'bank', 'advance', change, cause)
  if (change < 0n) book.move('advance_return', 'advance', 'bank', negateCents(change), cause)
  return moved
}
