import type pg from 'pg'

/** Ten million euros for each wallet: more than any load takes. */
const MONEY = 1_000_000_000

const WALLETS = `insert into wallets
    (id, owner_id, mode, created_at, updated_at, name, kind, agent_id, currency, status, metadata)
  select 'wallet_bench_' || n, $1, 'test', now(), now(), 'Wallet ' || n, $2,
    case $2 when 'agent' then 'agent_bench_' || n end, 'EUR', 'active', '{}'
  from generate_series(1, $3::int) as n`

const ACCOUNTS = `insert into ledger_accounts
    (id, owner_id, mode, created_at, updated_at, currency, kind, normal, minimum_cents, wallet_id)
  select 'account_bench_' || n, $1, 'test', now(), now(), 'EUR', 'wallet', 'credit', 0, 'wallet_bench_' || n
  from generate_series(1, $2::int) as n
  union all select 'account_bench_bank', $1, 'test', now(), now(), 'EUR', 'bank', 'debit', 0, null`

const FUNDS = `select ledger_post($1, 'test', now(),
    '[{"id":"posting_bench_fund","currency":"EUR","kind":"fund","referenceType":"bench","referenceId":"1"}]',
    jsonb_agg(jsonb_build_object('transferId', 'posting_bench_fund', 'accountId', account, 'amount', amount,
      'holdId', null, 'hold', 0)))
  from (select 'account_bench_' || n as account, ${MONEY} as amount from generate_series(1, $2::int) as n
    union all select 'account_bench_bank', -${MONEY}::bigint * $2::int) as all_of_them`

interface Wanted {
  readonly kind: 'owner' | 'agent'
  readonly count: number
}

/** Creates `wallet_bench_{n}` with accounts and money, in the caller's transaction, which also creates their agents. */
export async function addWallets(client: pg.Client, ownerId: string, { kind, count }: Wanted): Promise<void> {
  await client.query(WALLETS, [ownerId, kind, count])
  await client.query(ACCOUNTS, [ownerId, count])
  await client.query(FUNDS, [ownerId, count])
}
