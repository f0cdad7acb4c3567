import { WALLETS } from '../cases/transfer-cases.ts'
import { type Stage, withClient } from '../stage.ts'

/** Pairs of wallets that pay each other a cent in turn, so that their balances are known without a sum. */
const PAIRS = WALLETS / 2

/** Ids in our format, which sort by creation time. */
const ID = `lpad(n::text, 6, '0') || 'kagp6mybf2ktz' || lpad(pair::text, 4, '0')`

/** Rows by turn and not by wallet, the order in which real entries arrive. */
const TURNS = `from generate_series($2::int, $3::int) as n, generate_series(1, ${PAIRS}) as pair`

const TRANSFERS = `insert into ledger_transfers
    (id, owner_id, mode, currency, kind, reference_type, reference_id, booked_at, value_date, entry_accounts, entry_versions)
  select 'posting_01' || ${ID}, $1, 'test', 'EUR', 'transfer', 'transfer', 'transfer_01' || ${ID}, now(), current_date,
    array['account_bench_' || 2 * pair - 1, 'account_bench_' || 2 * pair], array[n, n]
  ${TURNS}`

/** The first wallet of a pair pays in the odd turns and receives in the even ones. */
const ENTRIES = `insert into ledger_entries (account_id, version, owner_id, mode, transfer_id, amount_cents, hold_cents,
    balance_after_cents, held_after_cents, booked_at)
  select a.id, a.version + n, $1, 'test', 'posting_01' || ${ID}, sign * (n % 2 * 2 - 1), 0,
    a.posted_cents + sign * (n % 2), 0, now()
  ${TURNS}, (values (-1), (1)) as side (sign), ledger_accounts a
  where a.id = 'account_bench_' || 2 * pair - (sign + 1) / 2`

const ACCOUNTS = `update ledger_accounts set version = version + $1::int, updated_at = now() where kind = 'wallet'`

/** Turns per statement. */
const PART = 1_000

/** Inserts this many past entries directly, without the checks of the posting function. */
export const fillEntries = (stage: Stage, count: number): Promise<void> =>
  withClient(stage, async client => {
    // An even number of turns leaves every balance as it was.
    const turns = Math.ceil(count / WALLETS / 2) * 2
    await client.query('set session_replication_role = replica')
    await client.query('set synchronous_commit = off')
    for (let first = 1; first <= turns; first += PART) {
      const last = Math.min(turns, first + PART - 1)
      await client.query(TRANSFERS, [stage.ownerId, first, last])
      await client.query(ENTRIES, [stage.ownerId, first, last])
    }
    await client.query(ACCOUNTS, [turns])
    await client.query('vacuum analyze ledger_transfers, ledger_entries, ledger_accounts')
    await client.query('checkpoint')
  })
