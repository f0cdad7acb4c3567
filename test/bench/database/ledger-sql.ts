/** The ledger for pgbench scripts; all arguments are SQL. */

export const accountsLocked = (wallets: readonly string[]): string =>
  `select id, posted_cents, held_cents from ledger_accounts
  where owner_id = :owner and mode = 'test' and wallet_id in (${wallets.join(', ')}) order by id for update`

interface Posting {
  readonly kind: string
  readonly type: string
  readonly id: string
}

interface Entry {
  readonly account: string
  readonly amount: number
  readonly hold?: number
  /** By default a new hold. */
  readonly holdId?: string
}

const ID = `'posting_' || :key`

const entryOf = ({ account, amount, hold = 0, holdId = `'hold_' || :key` }: Entry): string =>
  `jsonb_build_object('transferId', ${ID}, 'accountId', ${account}, 'amount', ${amount},
    'holdId', ${hold ? holdId : 'null'}, 'hold', ${hold})`

/** Calls `ledger_post`, the only way into the ledger, with one posting. */
export const postingSql = ({ kind, type, id }: Posting, entries: readonly Entry[]): string =>
  `ledger_post(:owner, 'test', now(),
    jsonb_build_array(jsonb_build_object('id', ${ID}, 'currency', 'EUR', 'kind', '${kind}',
      'referenceType', '${type}', 'referenceId', ${id}, 'valueDate', null)),
    jsonb_build_array(${entries.map(entryOf).join(', ')}))`

export const holdSql = (account: string, intent: string, cents: number): string =>
  postingSql({ kind: 'hold', type: 'intent', id: intent }, [{ account, amount: 0, hold: cents }])

export const releaseSql = (account: string, intent: string, cents: number, holdId: string): string =>
  postingSql({ kind: 'release', type: 'intent', id: intent }, [{ account, amount: 0, hold: -cents, holdId }])
