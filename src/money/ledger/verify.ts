import type { Tenant } from '../../kernel/contract/actor.ts'
import type { Row, Sql } from '../../kernel/contract/sql.ts'
import { addCents, type Cents, NO_CENTS } from '../../values/money.ts'

interface AccountRow extends Row {
  readonly id: string
  readonly currency: string
  readonly posted: Cents
  readonly held: Cents
  readonly version: bigint
  readonly holds: Cents
}

/**
 * Reads one snapshot of all accounts. Entries are append-only, so they can be checked against it afterwards
 * without a lock.
 */
const ACCOUNTS = `
select a.id, a.currency, a.posted_cents as posted, a.held_cents as held, a.version, coalesce(h.left, 0)::bigint as holds
from ledger_accounts a
left join (select account_id, sum(remaining_cents) as left from ledger_holds
  where owner_id = $1 and mode = $2 and ended_at is null group by account_id) as h on h.account_id = a.id
where a.owner_id = $1 and a.mode = $2 order by a.id`

/** Bounds the entries that one statement reads, so that no statement takes long. */
const SLICE = 50_000n

interface EntryRange {
  readonly id: string
  readonly first: bigint
  readonly last: bigint
}

interface RangeSummary extends Row {
  readonly id: string
  readonly entries: bigint
  readonly gaps: bigint
  /** The balance before the range, as its entries imply it. `breaks` is not zero if they disagree. */
  readonly before: Cents
  readonly heldBefore: Cents
  readonly breaks: bigint
  readonly sum: Cents
  readonly heldSum: Cents
}

const SUMMARIES = `
with read as (
  select e.account_id as id, e.version, e.amount_cents, e.hold_cents,
    row_number() over sofar + p.first - 1 as expected,
    e.balance_after_cents - sum(e.amount_cents) over sofar as before,
    e.held_after_cents - sum(e.hold_cents) over sofar as held_before
  from unnest($1::text[], $2::bigint[], $3::bigint[]) as p (id, first, last)
  join ledger_entries e on (e.owner_id, e.mode, e.account_id) = ($4, $5, p.id) and e.version between p.first and p.last
  window sofar as (partition by e.account_id order by e.version)
)
select id, count(*) as entries, count(*) filter (where version <> expected) as gaps,
  min(before)::bigint as before, min(held_before)::bigint as "heldBefore",
  (max(before) - min(before) + max(held_before) - min(held_before))::bigint as breaks,
  sum(amount_cents)::bigint as sum, sum(hold_cents)::bigint as "heldSum"
from read group by id`

function* slicesOf(accounts: readonly AccountRow[]): Generator<EntryRange[]> {
  let slice: EntryRange[] = []
  let remaining = SLICE
  for (const { id, version } of accounts)
    for (let first = 1n; first <= version; ) {
      const last = version - first < remaining ? version : first + remaining - 1n
      slice.push({ id, first, last })
      remaining -= last - first + 1n
      first = last + 1n
      if (remaining > 0n) continue
      yield slice
      slice = []
      remaining = SLICE
    }
  if (slice.length > 0) yield slice
}

export interface LedgerVerification {
  readonly accounts: number
  readonly entries: bigint
  readonly sums: ReadonlyMap<string, Cents>
  readonly problems: readonly string[]
}

interface AccountTotals {
  readonly posted: Cents
  readonly held: Cents
  readonly entries: bigint
}

const NOTHING: AccountTotals = { posted: NO_CENTS, held: NO_CENTS, entries: 0n }

/** Compares every account with its entries and its holds, and the sum of all accounts with zero. */
export async function verifyLedger(sql: Sql, tenant: Tenant): Promise<LedgerVerification> {
  const accounts = await sql<AccountRow>(ACCOUNTS, [tenant.ownerId, tenant.mode])
  const problems: string[] = []
  const totalsById = await sumEntries(sql, tenant, accounts, problems)
  const sums = new Map<string, Cents>()
  let entries = 0n
  for (const account of accounts) {
    const totals = totalsById.get(account.id) ?? NOTHING
    problems.push(...problemsOf(account, totals))
    entries += totals.entries
    sums.set(account.currency, addCents(sums.get(account.currency) ?? NO_CENTS, totals.posted))
  }
  for (const [currency, sum] of sums)
    if (sum !== 0n) problems.push(`The entries in ${currency} do not sum to zero.`)
  return { accounts: accounts.length, entries, sums, problems }
}

async function sumEntries(
  sql: Sql,
  { ownerId, mode }: Tenant,
  accounts: readonly AccountRow[],
  problems: string[],
) {
  const totalsById = new Map<string, AccountTotals>()
  for (const slice of slicesOf(accounts)) {
    const ranges = [slice.map(({ id }) => id), slice.map(({ first }) => first), slice.map(({ last }) => last)]
    for (const range of await sql<RangeSummary>(SUMMARIES, [...ranges, ownerId, mode])) {
      const totals = totalsById.get(range.id) ?? NOTHING
      const continues = range.before === totals.posted && range.heldBefore === totals.held
      if (range.gaps > 0n || range.breaks > 0n || !continues)
        problems.push(`${range.id}: the entries have a gap.`)
      totalsById.set(range.id, {
        posted: addCents(totals.posted, range.sum),
        held: addCents(totals.held, range.heldSum),
        entries: totals.entries + range.entries,
      })
    }
  }
  return totalsById
}

function* problemsOf(
  { id, version, posted, held, holds }: AccountRow,
  totals: AccountTotals,
): Generator<string> {
  if (totals.entries !== version)
    yield `${id}: the account has ${totals.entries} entries, but counts ${version}.`
  if (totals.posted !== posted) yield `${id}: the balance is not the sum of the entries.`
  if (totals.held !== held || holds !== held) yield `${id}: the held amount is not the sum of the open holds.`
}
