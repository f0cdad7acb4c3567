import { byValues, inTransaction, journalOf } from './journal-sql.ts'
import { accountsLocked, postingSql } from './ledger-sql.ts'
import { KEY, type SqlEquivalent } from './pgbench.ts'

const TRANSFER = `'transfer_' || :key`
const [FROM, TO] = [`'wallet_bench_' || :payer`, `'wallet_bench_' || :payee`]

/** The spaces after colons keep pgbench from taking them for variables. */
const EVENT_DATA = `{"transferId":"transfer_01kagp6mybf2ktzn5dx2q8fjzd","fromWalletId":"wallet_bench_1",
  "toWalletId":"wallet_bench_2","status":"completed","amountEuros":0.01}`

const BODY = `{"id":"transfer_01kagp6mybf2ktzn5dx2q8fjzd","ownerId":"customer_01kagp6mybf2ktzn5dx2q8fjzd","mode":"test",
  "fromWalletId":"wallet_bench_1","toWalletId":"wallet_bench_2","kind":"internal","amountEuros":0.01,"parts": null,
  "reference": null,"status":"completed","completedAt":"2026-11-20T09:30:00.000Z",
  "createdAt":"2026-11-20T09:30:00.000Z","updatedAt":"2026-11-20T09:30:00.000Z"}`

const INSERT = `insert into transfers (id, owner_id, mode, created_at, updated_at, from_wallet_id, to_wallet_id, kind,
    amount_cents, status, completed_at)
  values (${TRANSFER}, :owner, 'test', now(), now(), ${FROM}, ${TO}, 'internal', 1, 'completed', now())`

const WALLETS = `select id, status from wallets
  where owner_id = :owner and mode = 'test' and id in (${FROM}, ${TO})`

const posting = `select ${postingSql({ kind: 'transfer', type: 'transfer', id: TRANSFER }, [
  { account: `'account_bench_' || :payer`, amount: -1 },
  { account: `'account_bench_' || :payee`, amount: 1 },
])}`

const journal = journalOf(
  'transfers.create',
  ['transfer.completed'],
  { agent: 'null', data: EVENT_DATA },
  BODY,
)

/** A transfer in SQL, with all its rows and with its posting only. */
export const payInSql = (wallets: number, payers: number): SqlEquivalent => ({
  draw: [
    KEY,
    `payer random(1, ${payers})`,
    `payee 1 + (:payer - 1 + random(1, ${wallets - 1})) % ${wallets}`,
  ],
  scripts: {
    statements: inTransaction('transfers.create', [
      accountsLocked([FROM, TO]),
      WALLETS,
      INSERT,
      ...journal.map(byValues),
      posting,
    ]),
    'only the posting': posting,
  },
})
