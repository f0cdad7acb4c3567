import type { ReadContext } from '../../kernel/contract/context.ts'
import type { Row } from '../../kernel/contract/sql.ts'
import type { Cents } from '../../values/money.ts'
import {
  noNarrative,
  type PostingNarrative,
  type PostingOfAccount,
  postingNarratives,
} from '../ledger/index.ts'
import { movementKindOfTemplate, type StatementMovement } from './movements.ts'
import type { Statement } from './statement.ts'

interface EntryRow extends Row, PostingOfAccount {
  readonly version: bigint
  readonly bookedAt: Date
  readonly valueDate: string
  readonly balanceCents: Cents
  readonly wallets: bigint
  readonly walletId: string | null
  readonly walletIban: string | null
}

const PAGE_SIZE = 250

/**
 * Reads one page. There is no transaction around the pages: entries never change, and a slow reader must not
 * keep a transaction open. Finds the wallets on the other side of each posting.
 */
const PAGE = `
with page as (
  select version, transfer_id, amount_cents, balance_after_cents, booked_at from ledger_entries
  where account_id = $1 and version > $2 and version <= $3 and amount_cents <> 0 and owner_id = $4 and mode = $5
  order by version limit ${PAGE_SIZE}
)
select p.version, p.transfer_id as "postingId", t.kind as template, t.reference_type as "referenceType",
  t.reference_id as "referenceId", p.booked_at as "bookedAt", t.value_date::text as "valueDate",
  p.amount_cents as "amountCents", p.balance_after_cents as "balanceCents", s.*
from page p
join ledger_transfers t on (t.owner_id, t.mode, t.id) = ($4, $5, p.transfer_id)
cross join lateral (
  select coalesce(sum(o.amount_cents) filter (where o.amount_cents > 0), 0)::bigint as "totalCents",
    count(w.id) as wallets, min(w.id) as "walletId", min(w.iban) as "walletIban"
  from unnest(t.entry_accounts, t.entry_versions) as entry (account_id, version)
  join ledger_entries o on (o.account_id, o.version) = (entry.account_id, entry.version)
  left join ledger_accounts a on (a.owner_id, a.mode, a.id) = ($4, $5, o.account_id)
    and o.account_id <> $1 and sign(o.amount_cents) <> sign(p.amount_cents)
  left join wallets w on (w.owner_id, w.mode, w.id) = ($4, $5, a.wallet_id)
  where o.owner_id = $4 and o.mode = $5
) as s
order by p.version`

export async function* readStatementMovements(
  statement: Statement,
  { sql, service }: ReadContext,
): AsyncGenerator<readonly StatementMovement[]> {
  const { accountId, lastVersion, ownerId, mode, holder } = statement
  let after = statement.beforeVersion
  while (after < lastVersion) {
    const rows = await sql<EntryRow>(PAGE, [accountId, after, lastVersion, ownerId, mode])
    const described = await service.ask(postingNarratives, rows, { sql, tenant: statement })
    const narratives = new Map(described.flatMap(some => [...some]))
    if (rows.length > 0) yield rows.map(row => movementOf(row, narratives.get(row.postingId), holder))
    after = rows.length < PAGE_SIZE ? lastVersion : (rows.at(-1)?.version ?? lastVersion)
  }
}

/** Names one wallet on the other side by its IBAN, since its name may change: it is the holder's. */
function movementOf(
  { postingId, template, bookedAt, valueDate, amountCents, balanceCents, ...other }: EntryRow,
  narrative: Partial<PostingNarrative> | undefined,
  holder: string,
): StatementMovement {
  const [walletId, walletIban] = other.wallets === 1n ? [other.walletId, other.walletIban] : [null, null]
  const { name, iban, ...described } = { ...noNarrative, ...narrative }
  return {
    ...{ postingId, kind: movementKindOfTemplate(template), bookedAt, valueDate, amountCents, balanceCents },
    ...{ ...described, walletId, name: name ?? (walletId && holder), iban: iban ?? walletIban },
  }
}
